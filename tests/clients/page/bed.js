// SPDX-License-Identifier: MIT
'use strict'

// Support for the tests of the page: a tandemd, clients of all protocols, and Chromium, controlled by
// playwright-core. Messages of the browser, requests to other hosts and layout shifts are noted, and a
// test fails if there are any.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const { once } = require('node:events')
const { chromium } = require('playwright-core')
const { client: Fivebeans } = require('fivebeans')
const Jackd = require('jackd')
const broker = require('../broker.js')
const { PATH, OPTIONS } = require('../http_browser.js')
const workers = require('../http_workers.js')

const AXE = fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8')
const skip = !fs.existsSync(PATH) && `${PATH} is not there`

const DESK = { width: 1280, height: 860 }
const PHONE = { width: 320, height: 640 }

let browser
let server
let contexts = []
let clients = []

const start = async () => {
  browser = await chromium.launch({
    executablePath: PATH,
    args: OPTIONS.filter(option => !/pipe|headless/.test(option))
  })
}
const stop = () => browser.close()

// Resolves to the broker.
async function serve(settings = [], config = undefined) {
  server = await broker.start(settings, config)
  server.origin = `http://${server.admin.host}:${server.admin.port}`
  return server
}

// Runs in the page before anything else.
function watchShifts() {
  window.shifted = 0
  new PerformanceObserver(list => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifted += entry.value
  }).observe({ type: 'layout-shift', buffered: true })
}

// The browser's own message about an error response, which tests may provoke.
const OF_STATUS =
  /^Failed to load resource: the server responded with a status of (401|403|404|409)/

function listen(page, noted) {
  page.on('console', message => {
    if (!noted.mayFail || !OF_STATUS.test(message.text())) noted.said.push(message.text())
  })
  page.on('pageerror', error => noted.said.push(error.stack))
  page.on('dialog', dialog => {
    noted.said.push(`dialog: ${dialog.message()}`)
    dialog.dismiss()
  })
  page.on('request', request => {
    const { origin, protocol } = new URL(request.url())
    if (origin !== server.origin && protocol !== 'blob:') noted.elsewhere.push(request.url())
  })
}

// Opens the page at a view. -> playwright's page; page.noted must stay empty.
async function open(hash = '#/', { size = DESK, scheme = 'light' } = {}) {
  const context = await browser.newContext({ viewport: size, colorScheme: scheme })
  contexts.push(context)
  await context.addInitScript(watchShifts)
  const page = await context.newPage()
  page.setDefaultTimeout(60000)
  page.noted = { said: [], elsewhere: [], mayFail: false }
  listen(page, page.noted)
  await page.goto(`${server.origin}/${hash}`)
  return page
}

// The same page at another view.
async function go(page, hash, heading) {
  await page.evaluate(to => {
    location.hash = to
  }, hash)
  await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor()
}

function assertQuiet({ noted }) {
  assert.deepEqual(noted.said, [])
  assert.deepEqual(noted.elsewhere, [])
}

// The findings of axe, with their places.
async function findings(page) {
  await page.evaluate(`${AXE};0`)
  const { violations } = await page.evaluate(() => window.axe.run(document))
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary}`)
  )
}

// Ends the clients and the broker of a test; the broker must exit with 0.
async function leave() {
  const quiet = contexts.flatMap(context => context.pages())
  await Promise.all(contexts.map(context => context.close()))
  contexts = []
  await Promise.all(clients.map(end => end()))
  clients = []
  await workers.leave()
  await server?.stop()
  server = undefined
  quiet.forEach(assertQuiet)
}

//
// Clients
//

const ask = (client, command, ...args) =>
  new Promise((resolve, reject) => {
    client[command](...args, (error, ...words) =>
      error ? reject(new Error(error)) : resolve(words)
    )
  })

// fivebeans on a tube: put(), reserve() and bury() resolve to the id.
async function beans(tube) {
  const client = new Fivebeans(server.host, server.port)
  const connected = once(client, 'connect')
  client.connect()
  await connected
  clients.push(async () => {
    const closed = once(client, 'close')
    client.quit(() => {})
    await closed
  })
  await ask(client, 'use', tube)
  await ask(client, 'watch', tube)
  await ask(client, 'ignore', 'default')
  return {
    async put(body = 'work', { priority = 1000, delay = 0, ttr = 60 } = {}) {
      return Number((await ask(client, 'put', priority, delay, ttr, body))[0])
    },
    reserve: async () => Number((await ask(client, 'reserve'))[0]),
    release: id => ask(client, 'release', id, 1000, 0),
    bury: async id => ask(client, 'bury', id, 0),
    destroy: async id => ask(client, 'destroy', id)
  }
}

// jackd, which puts many jobs at once.
async function putMany(tube, count, body = 'work') {
  const client = await new Jackd().connect({ host: server.host, port: server.port })
  await client.use(tube)
  for (let i = 0; i < count; i++) await client.put(body)
  await client.quit()
}

// By HTTP, in the background.
async function post(queue, body) {
  const answer = await fetch(`http://${server.http.host}:${server.http.port}/${queue}`, {
    method: 'POST',
    body,
    headers: { 'X-Gearman-Background': 'true' }
  })
  assert.equal(answer.status, 200)
}

// A request to the API.
async function api(method, path, body) {
  const answer = await fetch(`${server.origin}/api/v1/${path}`, {
    method,
    body: body && JSON.stringify(body),
    headers: { 'X-Tandem-Request': '1' }
  })
  assert.ok(answer.ok, `${method} ${path}: ${answer.status}`)
  return answer.status === 204 ? null : answer.json()
}

module.exports = {
  skip,
  DESK,
  PHONE,
  start,
  stop,
  serve,
  open,
  go,
  findings,
  leave,
  beans,
  putMany,
  post,
  api,
  workers
}
