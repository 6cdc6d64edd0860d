// SPDX-License-Identifier: MIT
'use strict'

// The page that shows a job's progress, in Chromium, served from another origin than tandemd's.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const http = require('node:http')
const path = require('node:path')
const { after, afterEach, before, test } = require('node:test')
const broker = require('./broker.js')
const browser = require('./http_browser.js')
const workers = require('./http_workers.js')

const PAGE = fs.readFileSync(path.join(__dirname, '../../proto_http/example.html'))
const skip = !fs.existsSync(browser.PATH) && `${browser.PATH} is not there`

let chromium
let site
let origin
let server

function serve() {
  const listener = http.createServer((request, answer) => {
    answer.setHeader('Content-Type', 'text/html')
    answer.end(PAGE)
  })
  return new Promise(resolve => listener.listen(0, '127.0.0.1', () => resolve(listener)))
}

const brokerUrl = () => `http://${server.http.host}:${server.http.port}`

// Starts a broker and opens the page, which calls it; resolves to what evaluates in the page.
async function open(settings) {
  server = await broker.start(settings)
  return chromium.open(`${origin}/?broker=${brokerUrl()}`)
}

const SUBMIT = `document.querySelector('button').click()`

// In the page: resolves to the condition's value once it holds.
const until = condition => `new Promise(resolve => {
  const look = () => (${condition}) ? resolve(${condition}) : requestAnimationFrame(look)
  look()
})`
const TEXT = `document.querySelector('output').textContent`
const POSITION = `document.querySelector('progress').position`

before(async () => {
  if (skip) return
  site = await serve()
  origin = `http://localhost:${site.address().port}`
  chromium = await browser.start()
})

after(async () => {
  if (skip) return
  await chromium.close()
  site.close()
})

afterEach(async () => {
  if (skip) return
  await workers.leave()
  await server.stop()
})

test('the page draws the progress of its job and shows the result', { skip }, async () => {
  const evaluate = await open([`http.cors_origins=${origin}`])
  const worker = workers.holdingWorker(server, 'convert')
  await evaluate(SUBMIT)
  const job = await worker.arrival()
  assert.equal(job.payload.toString(), 'a film')
  assert.equal(await evaluate(POSITION), 0)
  for (const part of [1, 2, 3]) {
    job.reportStatus(part, 4)
    assert.equal(await evaluate(until(`${POSITION} === ${part / 4} && ${POSITION}`)), part / 4)
  }
  assert.equal(await evaluate(TEXT), 'Working ...')
  job.workComplete('the film is converted')
  assert.equal(await evaluate(until(`${POSITION} === 1 && ${TEXT}`)), 'the film is converted')
})

test('the page says what a worker says of a failure', { skip }, async () => {
  const evaluate = await open([`http.cors_origins=${origin}`])
  workers.gearmanWorker(server, 'convert', job => job.reportException('no such film'))
  await evaluate(SUBMIT)
  const text = await evaluate(until(`${TEXT}.startsWith('No') && ${TEXT}`))
  assert.equal(text, 'No result: no such film')
})

test('a page of an origin that is named may send our headers and see ours', { skip }, async () => {
  const evaluate = await open([`http.cors_origins=${origin}`])
  const handle = await evaluate(`fetch('${brokerUrl()}/later', {
    method: 'PUT',
    headers: { 'X-Gearman-Background': 'true', 'X-Gearman-Unique': 'one' }
  }).then(answer => answer.headers.get('X-Gearman-Job-Handle'))`)
  assert.match(handle, /^\S+:\d+$/)
  const url = `${brokerUrl()}/-/jobs/${handle}`
  const remove = `fetch('${url}', { method: 'DELETE' }).then(answer => answer.status)`
  assert.equal(await evaluate(remove), 204)
  assert.equal(await evaluate(remove), 404)
})

test('without an origin that is named the same page is refused', { skip }, async () => {
  const evaluate = await open([])
  const worked = []
  workers.gearmanWorker(server, 'convert', job => {
    worked.push(job.payload.toString())
    job.workComplete()
  })
  await evaluate(SUBMIT)
  const text = await evaluate(until(`${TEXT}.startsWith('No') && ${TEXT}`))
  assert.equal(text, 'No result: Failed to fetch')
  // Nor is anything submitted by what a page may send without being allowed to.
  const blind = `fetch('${brokerUrl()}/convert', { method: 'POST', mode: 'no-cors', body: 'blind' })
    .then(answer => answer.type)`
  assert.equal(await evaluate(blind), 'opaque')
  await fetch(`${brokerUrl()}/convert`, { method: 'POST', body: 'by a program' })
  assert.deepEqual(worked, ['by a program'])
})

test('an origin other than the one that is named is refused', { skip }, async () => {
  const evaluate = await open(['http.cors_origins=http://elsewhere.example'])
  await evaluate(SUBMIT)
  const text = await evaluate(until(`${TEXT}.startsWith('No') && ${TEXT}`))
  assert.equal(text, 'No result: Failed to fetch')
})
