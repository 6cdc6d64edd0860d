// SPDX-License-Identifier: MIT
'use strict'

// A tandemd of the test's own, on a port that the system chooses. TANDEMD is the path of the
// executable. Where BEANSTALK_ADDRESS (host:port) is set, the server that runs there is used
// instead, so that a test can be tried against another implementation.

const { spawn } = require('node:child_process')
const readline = require('node:readline')

const LISTENING = / listening (?=.*\bprotocol=beanstalk\b).*\baddress=([0-9.]+):(\d+)/

// Resolves to {host, port, stop}. stop() resolves when the broker has ended, and rejects unless it
// ended well.
async function start() {
  if (process.env.BEANSTALK_ADDRESS) {
    const [host, port] = process.env.BEANSTALK_ADDRESS.split(':')
    return { host, port: Number(port), stop: async () => {} }
  }
  const child = spawn(
    process.env.TANDEMD,
    ['--config', '/dev/null', '--set', 'beanstalk.listen=127.0.0.1:0'],
    { stdio: ['ignore', 'inherit', 'pipe'] }
  )
  const ended = new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) =>
      code === 0 ? resolve() : reject(new Error(`tandemd ended with ${signal ?? code}`))
    )
  })
  const listening = new Promise(resolve => {
    readline.createInterface({ input: child.stderr }).on('line', line => {
      const found = LISTENING.exec(line)
      if (found) resolve({ host: found[1], port: Number(found[2]) })
      process.stderr.write(`${line}\n`)
    })
  })
  const address = await Promise.race([
    listening,
    ended.then(() => Promise.reject(new Error('tandemd ended before it listened')))
  ])
  return {
    ...address,
    stop() {
      child.kill('SIGTERM')
      return ended
    }
  }
}

module.exports = { start }
