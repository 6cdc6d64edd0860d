// SPDX-License-Identifier: MIT
'use strict'

// fivebeans, a beanstalk client for Node.js with callbacks, and its worker. Each test has a tube of
// its own.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const { after, afterEach, before, beforeEach, test } = require('node:test')
const { client: Client, worker: Worker } = require('fivebeans')
const broker = require('./broker.js')

let server
let clients
let tube
let tubeCount = 0

// Resolves to the words of the answer after the first, and the body where there is one.
function ask(client, command, ...args) {
  return new Promise((resolve, reject) => {
    client[command](...args, (error, ...words) => {
      if (error) reject(new Error(error))
      else resolve(words)
    })
  })
}

async function connect() {
  const client = new Client(server.host, server.port)
  const connected = once(client, 'connect')
  client.connect()
  await connected
  clients.push(client)
  await ask(client, 'use', tube)
  await ask(client, 'watch', tube)
  await ask(client, 'ignore', 'default')
  return client
}

// `quit` has no answer: what tells that it was understood is that the connection ends.
async function quit(client) {
  const closed = once(client, 'close')
  client.quit(() => {})
  await closed
  clients.splice(clients.indexOf(client), 1)
}

const put = async (client, { priority = 0, delay = 0, ttr = 60, body = 'work' } = {}) =>
  (await ask(client, 'put', priority, delay, ttr, body))[0]
const reserve = async client => (await ask(client, 'reserve'))[0]
const jobStats = async (client, id) => (await ask(client, 'stats_job', id))[0]
const tubeStats = async client => (await ask(client, 'stats_tube', tube))[0]
const refused = word => ({ message: word })

async function putAndReserve(client, options) {
  const id = await put(client, options)
  assert.equal(await reserve(client), id)
  return id
}

before(async () => {
  server = await broker.start()
})

after(() => server.stop())

beforeEach(() => {
  clients = []
  tube = `fivebeans-${process.pid}-${++tubeCount}`
})

afterEach(() => Promise.all([...clients].map(quit)))

test('a job that is put is reserved with its id and body', async () => {
  const client = await connect()
  const id = await put(client, { body: 'a body with\r\na line end' })
  const [reserved, body] = await ask(client, 'reserve')
  assert.equal(reserved, id)
  assert.equal(body.toString(), 'a body with\r\na line end')
})

test('a body of any bytes comes back whole', async () => {
  const client = await connect()
  const body = Buffer.from(Array.from({ length: 60000 }, (_, i) => i % 256))
  await put(client, { body })
  assert.deepEqual((await ask(client, 'reserve'))[1], body)
})

test('commands that are sent at once are answered in order', async () => {
  const client = await connect()
  const answers = await Promise.all([
    ask(client, 'put', 1, 0, 60, 'first'),
    ask(client, 'put', 2, 0, 60, ''),
    ask(client, 'reserve'),
    ask(client, 'list_tube_used'),
    ask(client, 'reserve')
  ])
  assert.deepEqual([answers[2][0], answers[4][0]], [answers[0][0], answers[1][0]])
  assert.deepEqual([answers[2][1].toString(), answers[4][1].toString()], ['first', ''])
  assert.deepEqual(answers[3], [tube])
})

test('a waiting reserve gets the job that another client puts', async () => {
  const [worker, producer] = [await connect(), await connect()]
  const waiting = reserve(worker)
  const id = await put(producer)
  assert.equal(await waiting, id)
})

test('the lowest priority number is reserved first, then the oldest job', async () => {
  const client = await connect()
  const last = await put(client, { priority: 20 })
  const first = await put(client, { priority: 10 })
  const second = await put(client, { priority: 10 })
  const ids = []
  for (let i = 0; i < 3; i++) ids.push(await reserve(client))
  assert.deepEqual(ids, [first, second, last])
})

test('reserve_with_timeout gets a job, or TIMED_OUT', async () => {
  const client = await connect()
  const id = await put(client)
  assert.equal((await ask(client, 'reserve_with_timeout', 30))[0], id)
  await assert.rejects(ask(client, 'reserve_with_timeout', 0), refused('TIMED_OUT'))
  await assert.rejects(ask(client, 'reserve_with_timeout', 1), refused('TIMED_OUT'))
})

test('a destroyed job is gone', async () => {
  const client = await connect()
  const id = await putAndReserve(client)
  await ask(client, 'destroy', id)
  await assert.rejects(ask(client, 'destroy', id), refused('NOT_FOUND'))
  await assert.rejects(ask(client, 'peek', id), refused('NOT_FOUND'))
})

test('a released job is ready again with its new priority', async () => {
  const client = await connect()
  const id = await putAndReserve(client, { priority: 5 })
  await ask(client, 'release', id, 7, 0)
  const stats = await jobStats(client, id)
  assert.deepEqual([stats.state, stats.pri, stats.releases], ['ready', 7, 1])
  assert.equal(await reserve(client), id)
})

test('a job released with a delay comes back after it', async () => {
  const client = await connect()
  const id = await putAndReserve(client)
  await ask(client, 'release', id, 0, 3)
  assert.equal((await jobStats(client, id)).state, 'delayed')
  assert.equal((await ask(client, 'reserve_with_timeout', 30))[0], id)
})

test('release by a client that does not hold the job says NOT_FOUND', async () => {
  const [holder, other] = [await connect(), await connect()]
  const id = await putAndReserve(holder)
  await assert.rejects(ask(other, 'release', id, 0, 0), refused('NOT_FOUND'))
  await assert.rejects(ask(other, 'touch', id), refused('NOT_FOUND'))
  await assert.rejects(ask(other, 'bury', id, 0), refused('NOT_FOUND'))
})

test('a buried job waits for a kick', async () => {
  const client = await connect()
  const id = await putAndReserve(client)
  await ask(client, 'bury', id, Client.LOWEST_PRIORITY)
  const stats = await jobStats(client, id)
  assert.deepEqual([stats.state, stats.pri], ['buried', Client.LOWEST_PRIORITY])
  await assert.rejects(ask(client, 'reserve_with_timeout', 0), refused('TIMED_OUT'))
  assert.deepEqual(await ask(client, 'kick', 10), ['1'])
  assert.equal(await reserve(client), id)
})

test('kick_job moves that job only', async () => {
  const client = await connect()
  const first = await putAndReserve(client)
  const second = await putAndReserve(client)
  await ask(client, 'bury', first, 0)
  await ask(client, 'bury', second, 0)
  await ask(client, 'kick_job', second)
  await assert.rejects(ask(client, 'kick_job', second), refused('NOT_FOUND'))
  assert.equal(await reserve(client), second)
  assert.equal((await ask(client, 'peek_buried'))[0], first)
})

test('touch restarts the time to run', async () => {
  const client = await connect()
  const id = await putAndReserve(client, { ttr: 60 })
  while ((await jobStats(client, id))['time-left'] > 57);
  await ask(client, 'touch', id)
  assert.ok((await jobStats(client, id))['time-left'] > 57)
})

test('a job is given to another when its time to run is over', async () => {
  const [slow, other] = [await connect(), await connect()]
  const id = await putAndReserve(slow, { ttr: 3 })
  assert.equal((await ask(other, 'reserve_with_timeout', 30))[0], id)
  assert.equal((await jobStats(other, id)).timeouts, 1)
  await assert.rejects(ask(slow, 'touch', id), refused('NOT_FOUND'))
})

test('a reserve close to the end of a lease says DEADLINE_SOON', async () => {
  const client = await connect()
  await putAndReserve(client, { ttr: 3 })
  await assert.rejects(ask(client, 'reserve'), refused('DEADLINE_SOON'))
})

test('a delayed job is ready after its delay', async () => {
  const client = await connect()
  const begun = Date.now()
  const id = await put(client, { delay: 3 })
  assert.equal((await jobStats(client, id)).state, 'delayed')
  assert.equal(await reserve(client), id)
  assert.ok(Date.now() - begun >= 2950)
})

test('a paused tube hands out nothing until it is resumed', async () => {
  const client = await connect()
  const id = await put(client)
  await ask(client, 'pause_tube', tube, 3600)
  assert.equal((await tubeStats(client)).pause, 3600)
  await assert.rejects(ask(client, 'reserve_with_timeout', 0), refused('TIMED_OUT'))
  await ask(client, 'pause_tube', tube, 0)
  assert.equal(await reserve(client), id)
  await assert.rejects(ask(client, 'pause_tube', 'nowhere', 1), refused('NOT_FOUND'))
})

test('the peeks show a job of each state and leave it there', async () => {
  const client = await connect()
  const buried = await putAndReserve(client, { body: 'buried' })
  await ask(client, 'bury', buried, 0)
  const ready = await put(client, { body: 'ready' })
  const delayed = await put(client, { body: 'delayed', delay: 3600 })
  for (const [state, id] of Object.entries({ ready, delayed, buried })) {
    const [found, body] = await ask(client, `peek_${state}`)
    assert.deepEqual([found, body.toString()], [id, state])
    assert.equal((await ask(client, 'peek', id))[1].toString(), state)
    assert.equal((await jobStats(client, id)).state, state)
  }
})

test('the peeks of an empty tube say NOT_FOUND', async () => {
  const client = await connect()
  for (const state of ['ready', 'delayed', 'buried']) {
    await assert.rejects(ask(client, `peek_${state}`), refused('NOT_FOUND'))
  }
})

test('watch and ignore say how many tubes are watched', async () => {
  const client = await connect()
  const other = `${tube}-other`
  assert.deepEqual(await ask(client, 'watch', other), ['2'])
  assert.deepEqual(await ask(client, 'watch', other), ['2'])
  const [names] = await ask(client, 'list_tubes_watched')
  assert.deepEqual(names.sort(), [tube, other])
  assert.deepEqual(await ask(client, 'ignore', other), ['1'])
  await assert.rejects(ask(client, 'ignore', tube), refused('NOT_IGNORED'))
})

test('use says and remembers the tube', async () => {
  const client = await connect()
  assert.deepEqual(await ask(client, 'use', `${tube}-used`), [`${tube}-used`])
  assert.deepEqual(await ask(client, 'list_tube_used'), [`${tube}-used`])
  const [names] = await ask(client, 'list_tubes')
  assert.ok(names.includes('default') && names.includes(`${tube}-used`))
})

test('jobs of a client that quits are ready again', async () => {
  const [leaving, other] = [await connect(), await connect()]
  const id = await putAndReserve(leaving)
  await quit(leaving)
  assert.equal((await ask(other, 'reserve_with_timeout', 30))[0], id)
})

test('stats are YAML with numbers and text', async () => {
  const client = await connect()
  const [earlier] = await ask(client, 'stats')
  await ask(client, 'destroy', await putAndReserve(client))
  const [stats] = await ask(client, 'stats')
  for (const key of ['cmd-put', 'cmd-reserve', 'cmd-delete', 'total-jobs']) {
    assert.equal(stats[key], earlier[key] + 1, key)
  }
  // fivebeans's own tests make a semantic version of it.
  assert.match(`${stats.version}.0`, /^\d+\.\d+\.0$/)
  assert.equal(stats.draining, false)
})

test('stats of a job and of a tube tell their state', async () => {
  const client = await connect()
  const id = await put(client, { priority: 9, delay: 60, ttr: 30 })
  const job = await jobStats(client, id)
  assert.deepEqual([job.id, job.tube], [Number(id), tube])
  assert.deepEqual([job.state, job.pri, job.delay, job.ttr], ['delayed', 9, 60, 30])
  const stats = await tubeStats(client)
  assert.equal(stats.name, tube)
  assert.deepEqual([stats['current-jobs-delayed'], stats['current-using']], [1, 1])
  await assert.rejects(ask(client, 'stats_job', 999999999), refused('NOT_FOUND'))
  await assert.rejects(ask(client, 'stats_tube', 'nowhere'), refused('NOT_FOUND'))
})

test('a job that is too big is refused, and the connection lives on', async () => {
  const client = await connect()
  await assert.rejects(put(client, { body: 'x'.repeat(70000) }), refused('JOB_TOO_BIG'))
  await putAndReserve(client)
})

test('a worker deletes, releases and buries as its handlers say', async () => {
  const client = await connect()
  const seen = []
  const handler = action => ({
    type: action,
    work(payload, callback) {
      seen.push([action, payload])
      callback(action, 3600)
    }
  })
  const handlers = Object.fromEntries(
    ['success', 'release', 'bury'].map(action => [action, handler(action)])
  )
  const ids = []
  for (const type of ['success', 'release', 'bury', 'unknown']) {
    ids.push(await put(client, { body: JSON.stringify({ type, payload: `for ${type}` }) }))
  }
  const { host, port } = server
  const worker = new Worker({ id: 'w', host, port, handlers, ignoreDefault: true, timeout: 1 })
  worker.on('job.buried', id => id === ids[3] && worker.stop())
  const stopped = once(worker, 'stopped')
  worker.start([tube])
  await stopped
  assert.deepEqual(seen, [
    ['success', 'for success'],
    ['release', 'for release'],
    ['bury', 'for bury']
  ])
  await assert.rejects(ask(client, 'peek', ids[0]), refused('NOT_FOUND'))
  const states = []
  for (const id of ids.slice(1)) states.push((await jobStats(client, id)).state)
  assert.deepEqual(states, ['delayed', 'buried', 'buried'])
})
