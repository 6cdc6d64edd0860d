// SPDX-License-Identifier: MIT
'use strict'

// Abraxas, a Gearman client and worker for Node.js with streams and promises; one connection of it
// is both. Each test has a function of its own.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const { after, afterEach, before, beforeEach, test } = require('node:test')
const { setImmediate: nextTurn } = require('node:timers/promises')
const { Client } = require('abraxas')
const broker = require('./broker.js')

let server
let ticking // the connections of this client do not keep Node.js from ending
let parties
let name
let nameCount = 0

async function connect(options) {
  const party = Client.connect({ ...server.gearman, defaultEncoding: 'utf8', ...options })
  parties.push(party)
  await once(party, 'connect')
  return party
}

// Resolves to {task} when the worker is given a job. (A bare task is a promise of its payload.)
function nextJob(worker) {
  return new Promise(resolve => worker.registerWorkerStream(name, task => resolve({ task })))
}

// Resolves to the answer to `question`; for these the promises of this client know no objects.
function ask(party, question, ...args) {
  return new Promise((resolve, reject) => {
    party[question](...args, (error, answer) => (error ? reject(error) : resolve(answer)))
  })
}

const failure = task => once(task, 'error').then(([error]) => error)
const ownStatus = async party => (await ask(party, 'status'))[name]

// Looks until it sees what is wanted, and resolves to that.
async function until(look, isWanted) {
  for (;;) {
    const found = await look()
    if (isWanted(found)) return found
    await nextTurn()
  }
}

before(async () => {
  ticking = setInterval(() => {}, 1000)
  server = await broker.start()
})

after(() => {
  clearInterval(ticking)
  return server.stop()
})

beforeEach(() => {
  parties = []
  name = `abraxas-${process.pid}-${++nameCount}`
})

afterEach(() => parties.forEach(party => party.disconnect()))

test('a job is worked over the connection that submits it', async () => {
  const party = await connect()
  party.registerWorker(name, task => task.payload.toUpperCase())
  assert.equal(await party.submitJob(name, 'work'), 'WORK')
})

test('a payload is streamed to the worker', async () => {
  const [client, worker] = [await connect(), await connect()]
  worker.registerWorker(name, task => task.payload)
  const task = client.submitJob(name, {})
  const parts = Array.from({ length: 100 }, (_, i) => `${i % 10}`.repeat(1000))
  parts.forEach(part => task.write(part))
  task.end()
  assert.ok((await task) === parts.join(''), 'the result is what was written')
})

test('progress and a warning reach the client', async () => {
  const party = await connect()
  party.registerWorker(name, task => {
    task.status(0.25)
    task.warn('careful')
    return 'done'
  })
  const task = party.submitJob(name, 'work')
  const [[progress], [warning]] = await Promise.all([once(task, 'status'), once(task, 'warn')])
  assert.deepEqual([progress, warning], [0.25, 'careful'])
  assert.equal(await task, 'done')
})

test('an exception of the worker reaches the client with its text', async () => {
  const [client, worker] = [await connect(), await connect()]
  // The WORK_FAIL that it sends after the exception is passed over.
  let errors = 0
  worker.on('connection-error', () => errors++)
  worker.registerWorkerStream(name, task => task.error('no such file'))
  const error = await failure(client.submitJob(name, 'work'))
  assert.deepEqual([error.name, error.message], ['JobException', 'no such file'])
  await ask(worker, 'status') // what the worker sent before has been answered by then
  assert.equal(errors, 0)
})

test('high goes before normal and normal before low', async () => {
  const party = await connect()
  for (const priority of ['low', null, 'high']) {
    await party.submitJobBg(name, { priority }, String(priority))
  }
  const order = []
  party.registerWorker(name, task => {
    order.push(task.payload)
    return 'done'
  })
  await until(() => ownStatus(party), status => status.inqueue === 0)
  assert.deepEqual(order, ['high', 'null', 'low'])
})

test('a background job is known by its id until it is done', async () => {
  const [client, worker] = [await connect(), await connect()]
  const id = await client.submitJobBg(name, 'work')
  assert.deepEqual(await ask(client, 'getStatus', id), { known: 1, running: 0, complete: 0 })
  const { task } = await nextJob(worker)
  task.status(0.5)
  await until(() => ask(client, 'getStatus', id), status => status.complete === 0.5)
  task.end('done')
  await until(() => ask(client, 'getStatus', id), status => status.known === 0)
})

test('jobs with the same id are one job, whose result both clients get', async () => {
  const [first, second, worker] = [await connect(), await connect(), await connect()]
  const options = { uniqueid: 'the same' }
  const tasks = [first, second].map(party => party.submitJob(name, options, 'work'))
  await Promise.all(tasks.map(task => once(task, 'created')))
  let count = 0
  worker.registerWorker(name, task => `${task.uniqueid} ${++count}`)
  assert.deepEqual(await Promise.all(tasks), ['the same 1', 'the same 1'])
})

test('a worker holds as many jobs at a time as it says', async () => {
  const [client, worker] = [await connect(), await connect({ maxJobs: 3 })]
  const held = []
  worker.registerWorker(name, () => new Promise(resolve => held.push(resolve)))
  const results = Array.from({ length: 4 }, (_, i) => client.submitJob(name, `work ${i}`).then())
  await until(() => held.length, length => length === 3)
  const { inqueue, running, workers } = await until(
    () => ownStatus(client), status => status.inqueue === 4)
  assert.deepEqual([inqueue, running, workers], [4, 3, 1])
  held.forEach(resolve => resolve('done'))
  await until(() => held.length, length => length === 4)
  held[3]('done')
  assert.deepEqual(await Promise.all(results), Array(4).fill('done'))
})

test('a job for a moment that has come is done, and one for tomorrow waits', async () => {
  const party = await connect()
  const now = Math.floor(Date.now() / 1000)
  const later = await party.submitJobAt(name, now + 86400, 'later')
  const payload = new Promise(resolve => {
    party.registerWorker(name, task => {
      resolve(task.payload)
      return 'done'
    })
  })
  await party.submitJobAt(name, now, 'now')
  assert.equal(await payload, 'now')
  await until(() => ownStatus(party), status => status.inqueue === 1)
  assert.deepEqual(await ask(party, 'getStatus', later), { known: 1, running: 0, complete: 0 })
})

// Debian's gearmand refuses these.
test('a job with a schedule waits for its minute', async () => {
  const party = await connect()
  const soon = new Date(Date.now() + 30 * 60 * 1000)
  const schedule = { minute: soon.getMinutes(), hour: soon.getHours() }
  const id = await party.submitJobSched(name, schedule, 'work')
  assert.deepEqual(await ask(party, 'getStatus', id), { known: 1, running: 0, complete: 0 })
  const { inqueue, running } = await ownStatus(party)
  assert.deepEqual([inqueue, running], [1, 0])
})

test('the job of a worker that leaves is given to another', async () => {
  const [client, leaving, worker] = [await connect(), await connect(), await connect()]
  const result = client.submitJob(name, 'work')
  await nextJob(leaving)
  leaving.disconnect()
  worker.registerWorker(name, () => 'other')
  assert.equal(await result, 'other')
})

test('the workers are listed with their ids and functions', async () => {
  const [party, worker] = [await connect(), await connect()]
  worker.setClientId('a-worker')
  worker.registerWorkerStream(name, () => {})
  const find = async () =>
    [await ask(party, 'workers')].flat().find(({ clientid }) => clientid === 'a-worker')
  const line = await until(find, found => found?.functions.length === 1)
  assert.deepEqual([line.ip, line.functions], ['127.0.0.1', [name]])
})

test('what is echoed comes back', async () => {
  const party = await connect()
  assert.equal(await party.echo('are you there?'), 'are you there?')
})
