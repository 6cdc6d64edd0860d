/* SPDX-License-Identifier: MIT */
#include "server/hash_token.h"

#include "access/token.h"

#include <string.h>

// A shorter one could be found by trying; a longer one fits in no header.
enum { TOKEN_LEAST = 16, TOKEN_MOST = 4096 };

enum exit_reason hash_token(FILE *input, FILE *output, struct error_text *why)
{
    char token[TOKEN_MOST + 2];
    char hash[TOKEN_HASH_SIZE];
    struct token_digest digest;
    size_t len;

    if (!fgets(token, sizeof token, input)) {
        error_set(why, "no token on standard input");
        return EXIT_REASON_USAGE;
    }
    len = strcspn(token, "\r\n");
    if (len < TOKEN_LEAST || len > TOKEN_MOST || strcspn(token, " \t") < len) {
        error_set(why, "a token has %d to %d bytes and no blanks; `openssl rand -hex 32` makes one",
                  TOKEN_LEAST, TOKEN_MOST);
        return EXIT_REASON_USAGE;
    }
    if (!token_digest(slice_of(token, len), &digest)) {
        error_set(why, "the token cannot be hashed");
        return EXIT_REASON_OTHER;
    }
    token_digest_write(&digest, hash);
    (void)fprintf(output, "%s\n", hash);
    return EXIT_REASON_NONE;
}
