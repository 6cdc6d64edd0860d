/* SPDX-License-Identifier: MIT */
#include "push/url.h"

#include "push/special_address.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct parts {
    char *scheme, *user, *password, *host, *port;
};

static void parts_free(struct parts *parts)
{
    curl_free(parts->scheme);
    curl_free(parts->user);
    curl_free(parts->password);
    curl_free(parts->host);
    curl_free(parts->port);
}

// The part, NULL where there is none. False without memory.
static bool part(CURLU *url, CURLUPart which, unsigned flags, char **text)
{
    return curl_url_get(url, which, text, flags) != CURLUE_OUT_OF_MEMORY;
}

static bool split(CURLU *url, struct parts *parts)
{
    return part(url, CURLUPART_SCHEME, 0, &parts->scheme) &&
           part(url, CURLUPART_USER, 0, &parts->user) &&
           part(url, CURLUPART_PASSWORD, 0, &parts->password) &&
           part(url, CURLUPART_HOST, 0, &parts->host) &&
           part(url, CURLUPART_PORT, CURLU_DEFAULT_PORT, &parts->port) && parts->scheme &&
           parts->host && parts->port;
}

// Whether the host is a special address. One that is a name is looked at when it is connected to.
static bool host_is_special(const char *host)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
    char text[INET6_ADDRSTRLEN];
    size_t len = strlen(host);

    if (inet_pton(AF_INET, host, &v4.sin_addr) == 1) {
        return address_is_special((const struct sockaddr *)(const void *)&v4);
    }
    if (*host != '[' || len - 2 >= sizeof text) {
        return false;
    }
    memcpy(text, host + 1, len - 2);
    text[len - 2] = '\0';
    return inet_pton(AF_INET6, text, &v6.sin6_addr) == 1 &&
           address_is_special((const struct sockaddr *)(const void *)&v6);
}

static char *origin_of(const struct parts *parts)
{
    size_t size = strlen(parts->scheme) + strlen(parts->host) + strlen(parts->port) + 5;
    char *origin = malloc(size);

    if (origin) {
        (void)snprintf(origin, size, "%s://%s:%s", parts->scheme, parts->host, parts->port);
    }
    return origin;
}

static bool check_parts(const struct parts *parts, bool may_be_private, struct error_text *why)
{
    if (strcmp(parts->scheme, "https") != 0 && strcmp(parts->scheme, "http") != 0) {
        return error_set(why, "push: neither http nor https");
    }
    if (parts->user || parts->password) {
        return error_set(why, "push: a user or password in it would be shown to others");
    }
    if (!may_be_private && host_is_special(parts->host)) {
        return error_set(why, "push: %s is not of the public Internet (push_private)", parts->host);
    }
    return true;
}

bool push_url_check(const char *url, bool may_be_private, char **origin, bool *secure,
                    struct error_text *why)
{
    struct parts parts = {0};
    CURLU *parser = curl_url();
    bool good = false;

    if (!parser) {
        return error_set(why, "push: out of memory");
    }
    if (curl_url_set(parser, CURLUPART_URL, url, 0) != CURLUE_OK) {
        (void)error_set(why, "push: not a URL");
    } else if (!split(parser, &parts)) {
        (void)error_set(why, "push: not a URL with a host");
    } else if (check_parts(&parts, may_be_private, why)) {
        *secure = strcmp(parts.scheme, "https") == 0;
        *origin = origin_of(&parts);
        good = *origin || error_set(why, "push: out of memory");
    }
    parts_free(&parts);
    curl_url_cleanup(parser);
    return good;
}
