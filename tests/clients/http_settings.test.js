// SPDX-License-Identifier: MIT
'use strict'

// The effect of settings on requests: tokens, functions, hosts, limits, and gearmand's status
// codes. Each test has a tandemd of its own.

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const http = require('node:http')
const os = require('node:os')
const path = require('node:path')
const { afterEach, test } = require('node:test')
const broker = require('./broker.js')
const workers = require('./http_workers.js')

let server
let folder

async function start(settings) {
  server = await broker.start(settings)
}

// Resolves to {status, headers, text}. Unlike fetch, it sends any Host.
function ask(method, target, headers = {}, body = undefined) {
  return new Promise((resolve, reject) => {
    const request = http.request({ ...server.http, method, path: target, headers })
    request.on('error', reject)
    request.on('response', async answer => {
      let text = ''
      for await (const piece of answer) text += piece
      resolve({ status: answer.statusCode, headers: answer.headers, text })
    })
    request.end(body)
  })
}

const BACKGROUND = { 'X-Gearman-Background': 'true' }

async function statusOf(...request) {
  return (await ask(...request)).status
}

// Starts a tandemd that knows two tokens, and resolves to a header for each.
async function startWithTokens() {
  const tokens = { mail: 'mail-0123456789abcdef', all: 'all-0123456789abcdef' }
  const lines = Object.entries(tokens).map(([name, token]) => {
    const { stdout } = spawnSync(process.env.TANDEMD, ['hash-token'], { input: `${token}\n` })
    return `${stdout.toString().trim()}  ${name === 'all' ? '*' : 'mail*,post'}`
  })
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tandem-tokens-'))
  const file = path.join(folder, 'tokens')
  fs.writeFileSync(file, `# who may call what\n${lines.join('\n')}\n`)
  await start([`http.tokens=${file}`])
  const header = token => ({ Authorization: `Bearer ${token}` })
  return { mail: header(tokens.mail), all: header(tokens.all) }
}

afterEach(async () => {
  await workers.leave()
  await server.stop()
  if (folder) fs.rmSync(folder, { recursive: true })
  folder = undefined
})

test('who has no token is asked for one', async () => {
  await startWithTokens()
  const { status, headers } = await ask('POST', '/mail', BACKGROUND)
  assert.equal(status, 401)
  assert.match(headers['www-authenticate'], /^Bearer/)
  const wrong = { ...BACKGROUND, Authorization: 'Bearer wrong-0123456789abcdef' }
  assert.equal(await statusOf('POST', '/mail', wrong), 401)
  assert.equal(await statusOf('GET', '/-/jobs/H:nowhere:1'), 401)
  assert.equal(await statusOf('HEAD', '/'), 200)
  assert.equal(await statusOf('OPTIONS', '/mail'), 204)
})

test('a token is good for the functions that it names, and for their jobs', async () => {
  const { mail, all } = await startWithTokens()
  const statuses = {}
  for (const name of ['mail', 'mail-late', 'post', 'postage']) {
    statuses[name] = await statusOf('POST', `/${name}`, { ...BACKGROUND, ...mail })
  }
  assert.deepEqual(statuses, { mail: 200, 'mail-late': 200, post: 200, postage: 403 })
  const created = await ask('POST', '/secret', { ...BACKGROUND, ...all })
  assert.equal(created.status, 200)
  const job = `/-/jobs/${created.headers['x-gearman-job-handle']}`
  const told = async headers => [
    await statusOf('GET', job, headers),
    await statusOf('DELETE', job, headers)
  ]
  assert.deepEqual(await told(mail), [404, 404])
  assert.deepEqual(await told(all), [200, 204])
})

test('only the functions that are offered can be called', async () => {
  await start(['http.functions=public-*'])
  assert.equal(await statusOf('POST', '/public-one', BACKGROUND), 200)
  assert.equal(await statusOf('POST', '/private', BACKGROUND), 403)
})

test('a Host that is a name is one that was named', async () => {
  await start(['http.hosts=jobs.example'])
  const statuses = {}
  const hosts = ['jobs.example', 'jobs.example:8080', 'localhost', '[::1]:80', 'evil.example']
  for (const host of hosts) {
    statuses[host] = await statusOf('POST', '/f', { ...BACKGROUND, Host: host })
  }
  assert.deepEqual(statuses, {
    'jobs.example': 200,
    'jobs.example:8080': 200,
    localhost: 200,
    '[::1]:80': 200,
    'evil.example': 403
  })
})

test('a page of elsewhere is known by what its browser says of it', async () => {
  await start([])
  assert.equal(await statusOf('POST', '/f', { ...BACKGROUND, Origin: 'http://evil.example' }), 403)
  const site = name => statusOf('GET', '/f', { ...BACKGROUND, 'Sec-Fetch-Site': name })
  assert.deepEqual(
    await Promise.all(['cross-site', 'same-site', 'same-origin', 'none'].map(site)),
    [403, 403, 200, 200]
  )
})

test('a body or a result that is too large is told as such', async () => {
  await start(['http.max_body=1000', 'http.max_result=2000'])
  workers.gearmanWorker(server, 'f', job => job.workComplete(job.payload.toString().repeat(3)))
  assert.equal(await statusOf('POST', '/f', {}, 'x'.repeat(1001)), 413)
  assert.equal(await statusOf('POST', '/f', {}, 'x'.repeat(1000)), 502)
  const { status, text } = await ask('POST', '/f', {}, 'x'.repeat(600))
  assert.deepEqual([status, text.length], [200, 1800])
})

test("with gearmand's status codes a failure is 200, and told by the command", async () => {
  await start(['http.status_codes=gearmand'])
  workers.gearmanWorker(server, 'fails', job => job.reportError())
  workers.gearmanWorker(server, 'throws', job => job.reportException('why'))
  const told = async (...request) => {
    const { status, headers } = await ask(...request)
    return [status, headers['x-gearman-command']]
  }
  assert.deepEqual(await told('POST', '/fails'), [200, 'WORK_FAIL'])
  assert.deepEqual(await told('POST', '/throws'), [200, 'WORK_EXCEPTION'])
  assert.deepEqual(await told('POST', '/f', { 'X-Gearman-Ttr': 'long' }), [200, 'ERROR'])
})

test('a request waits for a worker as long as is set, if it says nothing else', async () => {
  await start(['http.wait_timeout=1'])
  assert.equal(await statusOf('POST', '/nobody'), 504)
})
