// SPDX-License-Identifier: MIT
'use strict'

// fetch and http of Node.js against the HTTP of tandemd, with Gearman and beanstalk workers behind
// it. Each test has a function of its own.

const assert = require('node:assert/strict')
const http = require('node:http')
const net = require('node:net')
const { after, afterEach, before, beforeEach, test } = require('node:test')
const broker = require('./broker.js')
const workers = require('./http_workers.js')

let server
let origin
let name
let nameCount = 0

const gearman = work => workers.gearmanWorker(server, name, work)
const holding = () => workers.holdingWorker(server, name)
const beanstalk = () => workers.beanstalkWorker(server, name)

function post(body = 'work', headers = {}, options = {}) {
  return fetch(`${origin}/${name}`, { method: 'POST', body, headers, ...options })
}

async function said(answer) {
  return [answer.status, answer.headers.get('x-gearman-command'), await answer.text()]
}

async function bytes(answer) {
  return Buffer.from(await answer.arrayBuffer())
}

// GearmaNode takes what it completes a job with for text.
function giveBack(job) {
  job.sendWorkData(job.payload)
  job.workComplete()
}

async function postBackground(body, headers) {
  const answer = await post(body, { 'X-Gearman-Background': 'true', ...headers })
  assert.deepEqual(await said(answer), [200, 'JOB_CREATED', ''])
  return answer.headers.get('x-gearman-job-handle')
}

const jobUrl = handle => `${origin}/-/jobs/${handle}`

async function look(handle) {
  const answer = await fetch(jobUrl(handle))
  return answer.status === 200 ? answer.json() : (await answer.text(), null)
}

// Until the job is as it should be.
async function lookUntil(handle, good) {
  for (;;) {
    const job = await look(handle)
    if (good(job)) return job
  }
}

// Yields the events of a stream: {id, event, data}.
async function* eventsOf(answer) {
  assert.equal(answer.headers.get('content-type'), 'text/event-stream')
  let text = ''
  for await (const piece of answer.body.pipeThrough(new TextDecoderStream())) {
    const events = (text + piece).split('\n\n')
    text = events.pop()
    for (const event of events) {
      const fields = Object.fromEntries(event.split('\n').map(line => line.split(/: (.*)/s)))
      yield { ...fields, data: JSON.parse(fields.data) }
    }
  }
  assert.equal(text, '')
}

const postStream = (body, headers) => post(body, { Accept: 'text/event-stream', ...headers })

// A request that waits, and the handle of its job.
async function postAndLook(headers) {
  const unique = `${name}-unique`
  const controller = new AbortController()
  const stream = await postStream('work', { 'X-Gearman-Unique': unique, ...headers })
  const handle = stream.headers.get('x-gearman-job-handle')
  const waiting = post('work', { 'X-Gearman-Unique': unique }, { signal: controller.signal })
  await lookUntil(handle, job => job.waiting === 2)
  return { stream, waiting, handle, controller }
}

async function names(answer) {
  const events = []
  for await (const { event } of eventsOf(answer)) events.push(event)
  return events
}

// The reply of Gearman's administration to a line.
function administer(line) {
  return new Promise((resolve, reject) => {
    const socket = net.connect(server.gearman.port, server.gearman.host)
    socket.on('error', reject)
    socket.once('data', data => {
      socket.destroy()
      resolve(data.toString())
    })
    socket.write(`${line}\n`)
  })
}

before(async () => {
  server = await broker.start()
  origin = `http://${server.http.host}:${server.http.port}`
})

after(() => server.stop())

beforeEach(() => {
  name = `http-${process.pid}-${++nameCount}`
})

afterEach(() => workers.leave())

// Results

test('a job is done by a Gearman worker and its result is the answer', async () => {
  gearman(job => job.workComplete(job.payload.toString().toUpperCase()))
  const answer = await post('Hello world!')
  assert.equal(answer.headers.get('content-type'), 'application/octet-stream')
  assert.match(answer.headers.get('x-gearman-job-handle'), /^\S+:\d+$/)
  assert.deepEqual(await said(answer), [200, 'WORK_COMPLETE', 'HELLO WORLD!'])
})

test('the workload of a GET is its query, decoded once', async () => {
  gearman(giveBack)
  const answer = await fetch(`${origin}/${name}?a%2520b+c&d=%00%ff`)
  assert.ok((await bytes(answer)).equals(Buffer.from('a%20b+c&d=\0\xff', 'latin1')))
})

test('any bytes go through, both ways', async () => {
  const body = Buffer.from(Array.from({ length: 300_000 }, (_, i) => (i * 7) % 256))
  gearman(giveBack)
  assert.ok((await bytes(await post(body))).equals(body))
})

test('the parts of a result come before its end, in order', async () => {
  gearman(job => {
    job.sendWorkData('one ')
    job.reportStatus(1, 2)
    job.reportWarning('not part of it')
    job.sendWorkData('two ')
    job.workComplete('three')
  })
  assert.deepEqual(await said(await post()), [200, 'WORK_COMPLETE', 'one two three'])
})

test('a function may have any name that a path can spell', async () => {
  workers.gearmanWorker(server, `${name}/a b?%`, job => job.workComplete('found'))
  name += '/a%20b%3F%25'
  assert.equal((await said(await post()))[2], 'found')
})

test('a job that fails is answered 500', async () => {
  gearman(job => job.reportError())
  const [status, command, body] = await said(await post())
  assert.deepEqual([status, command], [500, 'WORK_FAIL'])
  assert.deepEqual(Object.keys(JSON.parse(body)), ['error'])
})

test('an exception is answered 500 with what the worker said of it', async () => {
  gearman(job => job.reportException('no such file'))
  assert.deepEqual(await said(await post()), [500, 'WORK_EXCEPTION', 'no such file'])
})

test('what a worker said before it left is not part of the answer', async () => {
  const leaving = holding()
  const answer = post()
  const held = await leaving.arrival()
  held.sendWorkData('lost ')
  await workers.heard(leaving)
  leaving.leave()
  gearman(job => job.workComplete('found'))
  assert.equal((await said(await answer))[2], 'found')
})

// Background jobs

test('background jobs are done by priority, as word or number', async () => {
  for (const priority of ['low', '2147483647', 'normal', 'high', '0']) {
    await postBackground(priority, { 'X-Gearman-Priority': priority })
  }
  const order = []
  await new Promise(resolve => {
    gearman(job => {
      order.push(job.payload.toString())
      job.workComplete()
      if (order.length === 5) resolve()
    })
  })
  assert.deepEqual(order, ['0', 'high', 'normal', '2147483647', 'low'])
})

test('a delayed job is delayed, and one for a past moment is not', async () => {
  const late = await postBackground('late', { 'X-Gearman-Delay': '3600' })
  const soon = await postBackground('soon', { 'X-Gearman-Epoch': '1' })
  assert.deepEqual([(await look(late)).state, (await look(soon)).state], ['delayed', 'ready'])
})

test('a job that is held for longer than its time to run goes to another', async () => {
  const slow = await beanstalk()
  const handle = await postBackground('work', { 'X-Gearman-Ttr': '1' })
  await slow.reserve()
  const other = await beanstalk()
  await other.delete((await other.reserve()).id)
  assert.equal(await look(handle), null)
})

test('a full queue refuses, and says when to come again', async () => {
  await postBackground('first')
  assert.equal(await administer(`maxqueue ${name} 1`), 'OK\r\n')
  const answer = await post('second', { 'X-Gearman-Background': 'true' })
  assert.ok(Number(answer.headers.get('retry-after')) > 0)
  assert.deepEqual((await said(answer)).slice(0, 2), [429, 'ERROR'])
})

// The same job again

test('requests with the same unique are one job, whose result all get', async () => {
  const answers = Array.from({ length: 20 }, () => post('work', { 'X-Gearman-Unique': 'same' }))
  const stream = await postStream('work', { 'X-Gearman-Unique': 'same' })
  const handle = stream.headers.get('x-gearman-job-handle')
  await lookUntil(handle, job => job.waiting === 21)
  let count = 0
  gearman(job => job.workComplete(`time ${++count}`))
  for (const answer of await Promise.all(answers)) {
    assert.equal(answer.headers.get('x-gearman-job-handle'), handle)
    assert.equal(await answer.text(), 'time 1')
  }
  assert.deepEqual(await names(stream), ['created', 'complete'])
})

test('with a unique of - the body is the key', async () => {
  const headers = { 'X-Gearman-Unique': '-' }
  const handles = []
  for (const body of ['a', 'a', 'b']) handles.push(await postBackground(body, headers))
  assert.equal(handles[0], handles[1])
  assert.notEqual(handles[0], handles[2])
})

test('without a unique, the same body is another job', async () => {
  assert.notEqual(await postBackground('a'), await postBackground('a'))
})

test('a plain request that joins after parts of the result were sent is incomplete', async () => {
  const worker = holding()
  const headers = { 'X-Gearman-Unique': 'same' }
  const first = post('work', headers)
  const held = await worker.arrival()
  held.sendWorkData('part')
  await workers.heard(worker)
  const stream = await postStream('work', headers)
  const second = post('work', headers)
  await lookUntil(stream.headers.get('x-gearman-job-handle'), job => job.waiting === 3)
  held.workComplete(' and end')
  assert.equal((await said(await first))[2], 'part and end')
  const [status, , body] = await said(await second)
  assert.deepEqual([status, JSON.parse(body)], [500, { error: 'incomplete' }])
  await names(stream)
})

// Events

test('a stream tells what happens to the job, as it happens', async () => {
  const worker = holding()
  const answer = await postStream()
  const events = eventsOf(answer)
  const next = async () => (await events.next()).value
  const handle = answer.headers.get('x-gearman-job-handle')
  assert.deepEqual(await next(), { id: '1', event: 'created', data: { handle } })
  const held = await worker.arrival()
  // Each is read before the next is sent, so none is kept back.
  held.reportStatus(1, 2)
  assert.deepEqual(await next(), {
    id: '2',
    event: 'status',
    data: { handle, numerator: 1, denominator: 2 }
  })
  held.sendWorkData('p\u00e4rt\n')
  assert.deepEqual(await next(), { id: '3', event: 'data', data: { handle, data: 'pärt\n' } })
  held.reportWarning(Buffer.from([0xff, 0]))
  assert.deepEqual(await next(), {
    id: '4',
    event: 'warning',
    data: { handle, data: '/wA=', encoding: 'base64' }
  })
  held.workComplete('end')
  assert.deepEqual(await next(), { id: '5', event: 'complete', data: { handle, data: 'end' } })
  assert.equal((await events.next()).done, true)
})

test('a stream tells that the job is started again', async () => {
  const leaving = holding()
  const answer = await postStream()
  await leaving.arrival()
  leaving.leave()
  gearman(job => job.workComplete())
  assert.deepEqual(await names(answer), ['created', 'restart', 'complete'])
})

test('a stream ends with a failure or an exception', async () => {
  gearman(job => (job.payload.length > 0 ? job.reportException('why') : job.reportError()))
  assert.deepEqual(await names(await postStream('')), ['created', 'fail'])
  assert.deepEqual(await names(await postStream()), ['created', 'exception'])
})

test('a stream ends when the time that was given is over', async () => {
  const late = await postStream('work', { 'X-Gearman-Timeout': '1' })
  assert.deepEqual(await names(late), ['created', 'timeout'])
})

test('a browser that reconnects submits nothing again', async () => {
  const answer = await fetch(`${origin}/${name}?work`, {
    headers: { Accept: 'text/event-stream', 'Last-Event-ID': '3' }
  })
  assert.deepEqual(await said(answer), [204, null, ''])
  assert.ok(!(await administer('status')).includes(name))
})

// One job

test('a job is described as long as it lives', async () => {
  const handle = await postBackground('work', { 'X-Gearman-Priority': '7' })
  const now = Date.now() / 1000
  const { created, ...job } = await look(handle)
  assert.ok(Math.abs(created - now) < 3600)
  assert.deepEqual(job, {
    handle,
    function: name,
    state: 'ready',
    attempts: 0,
    priority: 7,
    progress: { numerator: 0, denominator: 0 },
    waiting: 0
  })
  const worker = holding()
  const held = await worker.arrival()
  held.reportStatus(3, 4)
  await workers.heard(worker)
  const running = await look(handle)
  assert.equal(running.state, 'running')
  assert.deepEqual(running.progress, { numerator: 3, denominator: 4 })
  held.workComplete()
  await lookUntil(handle, found => found === null)
})

test('a job that waits can be taken back, and who waits for it is told', async () => {
  const { stream, waiting, handle } = await postAndLook()
  assert.equal((await fetch(jobUrl(handle), { method: 'DELETE' })).status, 204)
  const [status, command] = await said(await waiting)
  assert.deepEqual([status, command], [410, 'WORK_FAIL'])
  assert.deepEqual(await names(stream), ['created', 'fail'])
  assert.equal((await fetch(jobUrl(handle), { method: 'DELETE' })).status, 404)
})

test('a job that a worker holds is not taken back', async () => {
  const worker = holding()
  const answer = post()
  const held = await worker.arrival()
  assert.equal((await fetch(jobUrl(held.handle), { method: 'DELETE' })).status, 409)
  held.workComplete('all the same')
  assert.equal((await said(await answer))[2], 'all the same')
})

test("Gearman's administrator can take a job back", async () => {
  const { stream, waiting, handle } = await postAndLook()
  assert.equal(await administer(`cancel job ${handle}`), 'OK\r\n')
  assert.equal((await said(await waiting))[0], 410)
  assert.deepEqual(await names(stream), ['created', 'fail'])
})

test('a request that goes away stops watching, and the last one takes its job along', async () => {
  const { stream, waiting, handle, controller } = await postAndLook()
  controller.abort()
  await assert.rejects(waiting, { name: 'AbortError' })
  await lookUntil(handle, job => job.waiting === 1)
  await stream.body.cancel()
  await lookUntil(handle, job => job === null)
})

test('a request waits no longer than it says', async () => {
  const answer = await post('work', { 'X-Gearman-Timeout': '1' })
  assert.equal(answer.status, 504)
  assert.equal(await look(answer.headers.get('x-gearman-job-handle')), null)
  await answer.text()
})

// A beanstalk worker

test('a beanstalk worker is given the workload, and its delete is the answer', async () => {
  const worker = await beanstalk()
  const answer = post('for a tube')
  const job = await worker.reserve()
  assert.equal(job.payload.toString(), 'for a tube')
  await worker.delete(job.id)
  assert.deepEqual(await said(await answer), [200, 'WORK_COMPLETE', ''])
})

test('a job that a beanstalk worker buries has failed', async () => {
  const worker = await beanstalk()
  const answer = post()
  await worker.bury((await worker.reserve()).id)
  assert.deepEqual((await said(await answer)).slice(0, 2), [500, 'WORK_FAIL'])
})

test('a background job that is buried stays, and is kicked', async () => {
  const worker = await beanstalk()
  const handle = await postBackground()
  await worker.bury((await worker.reserve()).id)
  assert.equal((await look(handle)).state, 'buried')
  assert.equal(await worker.kick(1), 1)
  await worker.delete((await worker.reserve()).id)
  assert.equal(await look(handle), null)
})

test('a job that a beanstalk worker releases starts again', async () => {
  const worker = await beanstalk()
  const answer = await postStream()
  await worker.release((await worker.reserve()).id)
  await worker.delete((await worker.reserve()).id)
  assert.deepEqual(await names(answer), ['created', 'restart', 'complete'])
})

// http

function send(agent, body, options) {
  return new Promise((resolve, reject) => {
    const request = http.request(`${origin}/${name}`, { agent, method: 'POST', ...options })
    request.on('error', reject)
    request.on('response', async answer => {
      let text = ''
      for await (const piece of answer) text += piece
      resolve({ port: request.socket.localPort, status: answer.statusCode, text })
    })
    for (const piece of body) request.write(piece)
    request.end()
  })
}

test('an agent that keeps its connection uses it for every request', async () => {
  gearman(job => job.workComplete(job.payload.toString().toUpperCase()))
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  const answers = []
  for (let i = 0; i < 10; i++) answers.push(await send(agent, [`work ${i}`]))
  agent.destroy()
  assert.equal(new Set(answers.map(({ port }) => port)).size, 1)
  assert.deepEqual(
    answers.map(({ text }) => text),
    Array.from({ length: 10 }, (_, i) => `WORK ${i}`)
  )
})

test('a body that is written in pieces goes in chunks', async () => {
  gearman(job => job.workComplete(job.payload))
  const { status, text } = await send(undefined, ['one ', 'x'.repeat(100_000), ' three'])
  assert.deepEqual([status, text], [200, `one ${'x'.repeat(100_000)} three`])
})

test('a client waits for the 100 before it sends its body', async () => {
  gearman(job => job.workComplete(job.payload))
  const text = await new Promise((resolve, reject) => {
    const options = { method: 'PUT', headers: { Expect: '100-continue' } }
    const request = http.request(`${origin}/${name}`, options)
    request.on('error', reject)
    request.on('continue', () => request.end('after it'))
    request.on('response', async answer => {
      let received = ''
      for await (const piece of answer) received += piece
      resolve(received)
    })
    request.flushHeaders()
  })
  assert.equal(text, 'after it')
})

test('fifty requests at once are done by two workers', async () => {
  gearman(job => job.workComplete(job.payload))
  gearman(job => job.workComplete(job.payload))
  const bodies = Array.from({ length: 50 }, (_, i) => `work ${i}`)
  const answers = await Promise.all(bodies.map(body => post(body)))
  assert.deepEqual(await Promise.all(answers.map(answer => answer.text())), bodies)
})
