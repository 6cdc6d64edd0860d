/* SPDX-License-Identifier: MIT */
#include "tests/proto_beanstalk/wire_scripts.h"

#define TEXT(literal)                                                                              \
    {                                                                                              \
        (literal), sizeof(literal) - 1                                                             \
    }
#define TEN "0123456789"
#define HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN

const struct bean_script bean_scripts[] = {
    {"every command",
     TEXT("use mail\r\nwatch mail\r\nput 5 0 9 3\r\nabc\r\nput 1 0 9 0\r\n\r\nput 0 9 9 1\r\nd\r\n"
          "stats-job 3\r\nreserve\r\nreserve-with-timeout 1\r\ntouch 1\r\nrelease 1 7 0\r\n"
          "reserve-job 1\r\nbury 1 8\r\npeek 1\r\npeek-ready\r\npeek-delayed\r\npeek-buried\r\n"
          "kick 1\r\nkick-job 3\r\ndelete 2\r\npause-tube mail 3\r\nreserve-with-timeout 0\r\n"
          "list-tubes\r\nlist-tube-used\r\nlist-tubes-watched\r\nstats-tube mail\r\nstats\r\n"
          "ignore default\r\nignore mail\r\nauth s3cret\r\nquit\r\nuse x\r\n")},
    {"bodies",
     TEXT("put 0 0 1 20\r\n01234567890123456789\r\nput 0 0 1 21\r\n012345678901234567890\r\n"
          "put 0 0 1 5\r\n\r\n\r\n\r\r\nput 0 0 1 2\r\nabc\r\nput 0 0 1 2\r\nab\r\r\n"
          "put 0 0 1 21 junk\r\n\r\nquit\r\n0123456789abc\r\nput 0 0 1 4 junk\r\nquitter\r\n")},
    {"lines",
     TEXT("\r\n\n\r\n\r\r\nfoo\rbar\r\nput\r\nput x\r\nuse  a\r\nreserve \r\nkick -\r\n\0\r\n"
          "use " HUNDRED HUNDRED "\r\nuse " HUNDRED HUNDRED "0\r\n"
          "pause-tube " HUNDRED HUNDRED " 4294967295\r\n"
          "pause-tube " HUNDRED HUNDRED " 04294967295\r\n" HUNDRED HUNDRED HUNDRED "\r\r\n"
          "GET / HTTP/1.1\r\nlist-tube-used\r\n")},
    {"a wait", TEXT("watch x\r\nignore default\r\nreserve\r\nput 0 0 1 3\r\nabc\r\nuse x\r\n"
                    "put 0 0 1 3\r\ndef\r\nreserve\r\nreserve\r\nlist-tube-used\r\n")},
    {"extensions",
     TEXT(
         "put-unique 0 0 9 3 k\r\nabc\r\nput-unique 0 0 9 1 k\r\nx\r\nput-unique 0 0 9 1 a b\r\nx"
         "\r\nput-unique 0 0 9 21 k\r\n012345678901234567890\r\nput-unique 0 0 9 1 " HUNDRED HUNDRED
         "\r\nd\r\nput-unique 0 0 9 1 " HUNDRED HUNDRED "0000000000000000000000000000000000000"
         "\r\nreserve-batch 3 0\r\nprogress 1 1 2\r\ncomplete 1 4\r\ndone\r\ncomplete 2 21\r\n"
         "012345678901234567890\r\ncomplete 2 1\r\nxyz\r\ncomplete 2 0\r\n\r\nput 0 9 9 0\r\n\r\n"
         "clear-tube default\r\nwatch x\r\nignore default\r\nreserve-batch 2 9\r\nuse x\r\n")},
    {"a browser", TEXT("POST /" HUNDRED HUNDRED HUNDRED " HTTP/1.1\r\n\r\nput 0 0 1 1\r\na\r\n")},
};

const size_t bean_script_count = sizeof bean_scripts / sizeof *bean_scripts;
