// SPDX-License-Identifier: MIT
'use strict'

// GearmaNode, a Gearman client and worker for Node.js. Each test has a function of its own.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const { after, afterEach, before, beforeEach, test } = require('node:test')
const winston = require('winston')
const broker = require('./broker.js')

// Its log says nothing that a test needs.
for (const name of ['Client', 'Job', 'JobServer', 'LBStrategy', 'Worker', 'protocol']) {
  winston.loggers.add(name, { silent: true })
}
winston.configure({ silent: true })
const gearmanode = require('gearmanode')

let server
let parties
let name
let nameCount = 0

function connect(kind, options) {
  const party = gearmanode[kind]({ ...server.gearman, ...options })
  party.on('error', error => {
    throw error
  })
  parties.push(party)
  return party
}

const newClient = () => connect('client')

// A worker that does `work` for a function.
function newWorker(work, { func = name, timeout, ...options } = {}) {
  const worker = connect('worker', options)
  worker.addFunction(func, work, timeout === undefined ? {} : { timeout })
  return worker
}

const echo = job => job.workComplete(job.payload)

// A worker that collects the jobs that it is given; arrival() resolves to the next.
function holdingWorker(options) {
  const waiting = []
  const jobs = []
  const worker = newWorker(job => {
    const resolve = waiting.shift()
    if (resolve) resolve(job)
    else jobs.push(job)
  }, options)
  worker.arrival = () =>
    jobs.length > 0 ? Promise.resolve(jobs.shift()) : new Promise(resolve => waiting.push(resolve))
  return worker
}

function submit(client, payload = 'work', { func = name, ...options } = {}) {
  return client.submitJob(func, payload, options)
}

async function submitBackground(client, payload, options) {
  const job = submit(client, payload, { ...options, background: true })
  await once(job, 'created')
  return job
}

async function completion(job) {
  await once(job, 'complete')
  return job.response
}

async function status(job) {
  job.getStatus()
  const [found] = await once(job, 'status')
  return found
}

function leave(party) {
  parties.splice(parties.indexOf(party), 1)
  party.close()
}

before(async () => {
  server = await broker.start([], broker.RETRIED)
})

after(() => server.stop())

beforeEach(() => {
  parties = []
  name = `gearmanode-${process.pid}-${++nameCount}`
})

afterEach(() => parties.forEach(party => party.close()))

test('a foreground job is worked and its result comes back', async () => {
  newWorker(job => job.workComplete(job.payload.toString().toUpperCase()))
  assert.equal((await completion(submit(newClient(), 'work'))).toString(), 'WORK')
})

test('a job that is there before its worker is done when the worker comes', async () => {
  const job = submit(newClient())
  await once(job, 'created')
  newWorker(echo)
  assert.equal((await completion(job)).toString(), 'work')
})

test('a payload of any bytes and data of any bytes come through whole', async () => {
  const bytes = Buffer.from(Array.from({ length: 200_000 }, (_, i) => (i * 7) % 256))
  newWorker(job => {
    job.sendWorkData(job.payload)
    job.workComplete('end')
  })
  const job = submit(newClient(), bytes)
  const [[data]] = await Promise.all([once(job, 'workData'), completion(job)])
  assert.ok(data.equals(bytes))
})

test('an empty result is a result', async () => {
  newWorker(job => job.workComplete())
  assert.equal((await completion(submit(newClient()))).length, 0)
})

test('high goes before normal and normal before low, each in the order of submission', async () => {
  const client = newClient()
  for (const priority of ['LOW', 'NORMAL', 'HIGH']) {
    await submitBackground(client, `${priority} 1`, { priority })
    await once(submit(client, `${priority} 2`, { priority }), 'created')
  }
  const order = []
  await new Promise(resolve => {
    newWorker(job => {
      order.push(job.payload.toString())
      job.workComplete()
      if (order.length === 6) resolve()
    })
  })
  assert.deepEqual(order, ['HIGH 1', 'HIGH 2', 'NORMAL 1', 'NORMAL 2', 'LOW 1', 'LOW 2'])
})

test('a background job is known, then running with its progress, then unknown', async () => {
  const job = await submitBackground(newClient())
  let found = await status(job)
  assert.deepEqual([found.known, found.running], [true, false])
  const worker = holdingWorker()
  const held = await worker.arrival()
  held.reportStatus(3, 4)
  do found = await status(job)
  while (found.percent_done_den !== '4')
  assert.deepEqual([found.known, found.running, found.percent_done_num], [true, true, '3'])
  held.workComplete()
  do found = await status(job)
  while (found.known)
  assert.equal(found.running, false)
})

test('progress, data and a warning reach the client in order', async () => {
  newWorker(job => {
    job.reportStatus(1, 2)
    job.sendWorkData('part')
    job.reportWarning('careful')
    job.workComplete('all')
  })
  const job = submit(newClient())
  const events = []
  job.on('status', ({ percent_done_num: n, percent_done_den: d }) => events.push(`${n}/${d}`))
  job.on('workData', data => events.push(data.toString()))
  job.on('warning', data => events.push(data.toString()))
  events.push((await completion(job)).toString())
  assert.deepEqual(events, ['1/2', 'part', 'careful', 'all'])
})

test('a failed job is told as failed', async () => {
  newWorker(job => job.reportError())
  await once(submit(newClient()), 'failed')
})

test('an exception reaches a client that asked for exceptions', async () => {
  const client = newClient()
  const option = once(client.jobServers[0], 'option')
  client.jobServers[0].setOption('exceptions')
  assert.deepEqual(await option, ['exceptions'])
  newWorker(job => job.reportException('no such file'))
  const [explanation] = await once(submit(client), 'exception')
  assert.equal(explanation.toString(), 'no such file')
})

// gearmand's WORK_FAIL has one NUL too many here, and this client does not know the handle then.
test('to a client that did not ask for exceptions, one is a failure', async () => {
  newWorker(job => job.reportException('no such file'))
  await once(submit(newClient()), 'failed')
})

test('jobs with the same unique are one job, whose result all clients get', async () => {
  const clients = [newClient(), newClient(), newClient()]
  const jobs = clients.map(client => submit(client, 'work', { unique: 'the same' }))
  await Promise.all(jobs.map(job => once(job, 'created')))
  assert.equal(new Set(jobs.map(job => job.handle)).size, 1)
  let count = 0
  newWorker(
    job => {
      count++
      job.workComplete(`${job.unique} ${count}`)
    },
    { withUnique: true }
  )
  const results = await Promise.all(jobs.map(completion))
  assert.deepEqual(results.map(String), Array(3).fill('the same 1'))
})

test('a worker with several functions does the jobs of each', async () => {
  const worker = newWorker(job => job.workComplete('first'))
  worker.addFunction(`${name}-2`, job => job.workComplete('second'))
  const client = newClient()
  const jobs = [submit(client), submit(client, 'work', { func: `${name}-2` })]
  assert.deepEqual((await Promise.all(jobs.map(completion))).map(String), ['first', 'second'])
})

test('a function that a worker took back goes to another worker', async () => {
  const worker = newWorker(job => job.workComplete('old'))
  const client = newClient()
  await completion(submit(client))
  worker.removeFunction(name)
  const echoed = once(worker.jobServers[0], 'echo')
  worker.jobServers[0].echo('the function is taken back')
  await echoed
  const job = submit(client)
  newWorker(other => other.workComplete('new'))
  assert.equal((await completion(job)).toString(), 'new')
})

test('the job of a worker that leaves is given to another', async () => {
  const leaving = holdingWorker()
  const client = newClient()
  const job = submit(client)
  await leaving.arrival()
  newWorker(other => other.workComplete('other'))
  leave(leaving)
  assert.equal((await completion(job)).toString(), 'other')
})

test('a job that is held longer than the function allows is given to another', async () => {
  const slow = holdingWorker({ timeout: 1000 })
  const client = newClient()
  const job = submit(client)
  const held = await slow.arrival()
  newWorker(other => other.workComplete('other'))
  assert.equal((await completion(job)).toString(), 'other')
  const refused = once(slow, 'jobServerError')
  held.workComplete('too late')
  assert.equal((await refused)[1], 'JOB_NOT_FOUND')
})

test('an option that the server does not know is refused', async () => {
  const client = newClient()
  const refused = once(client, 'jobServerError')
  client.jobServers[0].setOption('no such option')
  assert.equal((await refused)[1], 'UNKNOWN_OPTION')
})

test('a hundred jobs of one connection are done by two workers', async () => {
  const workers = [newWorker(echo), newWorker(echo)]
  assert.equal(workers.length, 2)
  const client = newClient()
  const jobs = Array.from({ length: 100 }, (_, i) => submit(client, `work ${i}`))
  const results = await Promise.all(jobs.map(completion))
  assert.deepEqual(results.map(String), Array.from({ length: 100 }, (_, i) => `work ${i}`))
})

test('a background job that fails twice has been retried, and is a dead letter then', async () => {
  name += '.retried'
  const attempts = []
  newWorker(job => {
    attempts.push(Date.now())
    job.reportError()
  })
  const job = submit(newClient(), 'work', { background: true })
  const dead = await new Promise(resolve => newWorker(resolve, { func: `${name}.dead` }))
  assert.equal(dead.payload.toString(), 'work')
  assert.equal(dead.handle, job.handle)
  assert.equal(attempts.length, 2)
  assert.ok(attempts[1] - attempts[0] >= 2990)
})

test('a foreground job that fails is not retried: its client is told', async () => {
  name += '.retried'
  let attempts = 0
  newWorker(job => {
    attempts++
    job.reportError()
  })
  await once(submit(newClient()), 'failed')
  assert.equal(attempts, 1)
})
