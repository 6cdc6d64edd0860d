-- SPDX-License-Identifier: MIT
-- POSTs, each with a body of its own as the load generator's workers expect it: 16 digits, then
-- letters. The first argument is the size of the body (0: all are empty), the second the number of
-- the first body; what follows are headers, a name and a value each. Prints what was measured.

local DIGITS = 16

function init(args)
    local size, number = tonumber(args[1]), tonumber(args[2])
    for at = 3, #args, 2 do
        wrk.headers[args[at]] = args[at + 1]
    end
    if size == 0 then
        wrk.headers["Content-Length"] = "0"
        local text = wrk.format("POST", nil, nil, "")
        request = function()
            return text
        end
        return
    end
    local letters = {}
    for at = DIGITS, size - 1 do
        letters[#letters + 1] = string.char(string.byte("a") + at % 26)
    end
    local rest = table.concat(letters)
    local whole = wrk.format("POST", nil, nil, string.rep("0", DIGITS) .. rest)
    local head = whole:sub(1, -1 - size)
    request = function()
        number = number + 1
        return head .. string.format("%016d", number) .. rest
    end
end

function done(summary, latency, requests)
    local errors = summary.errors
    print(string.format(
        "measured requests=%d seconds=%.6f p50_us=%.1f p99_us=%.1f p999_us=%.1f " ..
        "connect=%d read=%d write=%d status=%d timeout=%d",
        summary.requests, summary.duration / 1e6, latency:percentile(50), latency:percentile(99),
        latency:percentile(99.9), errors.connect, errors.read, errors.write, errors.status,
        errors.timeout))
end
