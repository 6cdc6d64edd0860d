// SPDX-License-Identifier: MIT
'use strict'

// A tandemd of the test's own, on ports that the system chooses. TANDEMD is the path of the
// executable. Where BEANSTALK_ADDRESS, GEARMAN_ADDRESS or HTTP_ADDRESS (host:port) is set, the
// servers that run there are used instead, so that a test can be tried against another
// implementation.

const { spawn } = require('node:child_process')
const path = require('node:path')
const readline = require('node:readline')

const PROTOCOLS = ['beanstalk', 'gearman', 'http', 'admin']
const LISTENING =
  / listening (?=.*\bprotocol=(beanstalk|gearman|http|admin)\b).*\baddress=([0-9.]+):(\d+)/
const STARTED = / started /

// The configuration with which queues called *.retried have a policy.
const RETRIED = path.join(__dirname, 'retried.conf')

function parse(address) {
  const [host, port] = address.split(':')
  return { host, port: Number(port) }
}

// Resolves to the broker's addresses, {beanstalk: {host, port}, gearman: ...}.
function addressesIn(log) {
  const addresses = {}
  return new Promise(resolve => {
    readline.createInterface({ input: log }).on('line', line => {
      const found = LISTENING.exec(line)
      if (found) addresses[found[1]] = { host: found[2], port: Number(found[3]) }
      if (STARTED.test(line)) resolve(addresses)
      process.stderr.write(`${line}\n`)
    })
  })
}

// Resolves to {host, port, gearman: {host, port}, http: ..., admin: ..., stop}; host and port
// without more are beanstalk's. `settings` are as for --set. stop() resolves when the broker has ended, and
// rejects unless it ended well.
async function start(settings = [], config = '/dev/null') {
  const { BEANSTALK_ADDRESS, GEARMAN_ADDRESS, HTTP_ADDRESS } = process.env
  if (BEANSTALK_ADDRESS || GEARMAN_ADDRESS || HTTP_ADDRESS) {
    return {
      ...(BEANSTALK_ADDRESS && parse(BEANSTALK_ADDRESS)),
      gearman: GEARMAN_ADDRESS && parse(GEARMAN_ADDRESS),
      http: HTTP_ADDRESS && parse(HTTP_ADDRESS),
      stop: async () => {}
    }
  }
  const set = [...PROTOCOLS.map(name => `${name}.listen=127.0.0.1:0`), ...settings]
  const options = set.flatMap(setting => ['--set', setting])
  const child = spawn(process.env.TANDEMD, ['--config', config, ...options], {
    stdio: ['ignore', 'inherit', 'pipe']
  })
  const ended = new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) =>
      code === 0 ? resolve() : reject(new Error(`tandemd ended with ${signal ?? code}`))
    )
  })
  const { beanstalk, gearman, http, admin } = await Promise.race([
    addressesIn(child.stderr),
    ended.then(() => Promise.reject(new Error('tandemd ended before it listened')))
  ])
  return {
    ...beanstalk,
    gearman,
    http,
    admin,
    stop() {
      child.kill('SIGTERM')
      return ended
    }
  }
}

module.exports = { start, RETRIED }
