// SPDX-License-Identifier: MIT
'use strict'

// Headless Chromium, as Debian packages it, told what to do through a pipe: its DevTools protocol
// is JSON, a NUL after each message.

const { spawn } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')

const PATH = process.env.CHROMIUM ?? '/usr/bin/chromium'

// Nothing that calls home, and nothing that a container may lack.
const OPTIONS = [
  '--headless=new',
  '--remote-debugging-pipe',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--disable-quic',
  '--no-first-run',
  '--no-default-browser-check',
  '--disable-extensions',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-default-apps',
  '--disable-sync',
  '--metrics-recording-only',
  // Names other than that of the machine itself are not found.
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1'
]

// Talks to the browser: call(method, params, sessionId) resolves to what it answers, and
// until(isIt) when an event comes that is it.
class Pipe {
  constructor(child) {
    this.output = child.stdio[3]
    this.calls = new Map()
    this.waiting = []
    this.count = 0
    let text = ''
    child.stdio[4].setEncoding('utf8').on('data', piece => {
      const messages = (text + piece).split('\0')
      text = messages.pop()
      for (const message of messages) this.receive(JSON.parse(message))
    })
    child.on('close', code => {
      for (const { reject } of this.calls.values()) reject(new Error(`Chromium ended: ${code}`))
    })
  }

  receive({ id, result, error, ...event }) {
    if (id === undefined) {
      this.waiting = this.waiting.filter(({ isIt, resolve }) => !isIt(event) || resolve())
      return
    }
    const { resolve, reject } = this.calls.get(id)
    this.calls.delete(id)
    if (error) reject(new Error(error.message))
    else resolve(result)
  }

  call(method, params = {}, sessionId = undefined) {
    const id = ++this.count
    this.output.write(`${JSON.stringify({ id, method, params, sessionId })}\0`)
    return new Promise((resolve, reject) => this.calls.set(id, { resolve, reject }))
  }

  until(isIt) {
    return new Promise(resolve => this.waiting.push({ isIt, resolve }))
  }
}

// Resolves to {open, close}. open(url) resolves, once the page has loaded, to a function that
// evaluates an expression there and resolves to its value; a promise is waited for.
async function start() {
  const profile = fs.mkdtempSync(path.join(os.tmpdir(), 'tandem-chromium-'))
  const child = spawn(PATH, [...OPTIONS, `--user-data-dir=${profile}`], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe']
  })
  const ended = new Promise(resolve => child.once('close', resolve))
  const pipe = new Pipe(child)

  async function open(url) {
    const { targetId } = await pipe.call('Target.createTarget', { url: 'about:blank' })
    const target = { targetId, flatten: true }
    const { sessionId } = await pipe.call('Target.attachToTarget', target)
    await pipe.call('Page.enable', {}, sessionId)
    let arrived = false
    // Before that, the empty page may say that it has loaded.
    const loaded = pipe.until(({ method, params }) => {
      arrived ||= method === 'Page.frameNavigated' && params.frame.url === url
      return arrived && method === 'Page.loadEventFired'
    })
    await pipe.call('Page.navigate', { url }, sessionId)
    await loaded
    return async expression => {
      const how = { expression, awaitPromise: true, returnByValue: true }
      const { result, exceptionDetails } = await pipe.call('Runtime.evaluate', how, sessionId)
      if (exceptionDetails) throw new Error(exceptionDetails.exception.description)
      return result.value
    }
  }

  async function close() {
    await pipe.call('Browser.close')
    await ended
    fs.rmSync(profile, { recursive: true, force: true, maxRetries: 5 })
  }

  return { open, close }
}

module.exports = { PATH, OPTIONS, start }
