-- SPDX-License-Identifier: MIT
-- For wrk: posts jobs, background ones or those whose result is waited for, as its argument says.
-- An answer that is not 200 is an error.

wrk.method = "POST"
wrk.body = "work"

function init(args)
  if args[1] == "background" then
    wrk.headers["X-Gearman-Background"] = "true"
  end
end

function done(summary)
  local errors = 0
  for _, count in pairs(summary.errors) do
    errors = errors + count
  end
  print(string.format("requests=%d errors=%d", summary.requests, errors))
end
