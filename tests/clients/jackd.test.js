// SPDX-License-Identifier: MIT
'use strict'

// jackd, a beanstalk client for Node.js, as it comes from the package registry. Each test has a
// tube of its own. jackd ends no `pause-tube` line by itself, so the tests hand it the line's end
// with the delay.

const assert = require('node:assert/strict')
const { after, afterEach, before, beforeEach, test } = require('node:test')
const Jackd = require('jackd')
const broker = require('./broker.js')

let server
let clients
let tube
let tubeCount = 0

async function connect() {
  const client = await new Jackd().connect({ host: server.host, port: server.port })
  clients.push(client)
  await client.use(tube)
  await client.watch(tube)
  await client.ignore('default')
  return client
}

// jackd leaves YAML to its caller; these mappings have one level.
function parseYaml(text) {
  const lines = text.split('\n').filter(line => line.includes(': '))
  return Object.fromEntries(lines.map(line => line.split(': ')))
}

const jobStats = async (client, id) => parseYaml(await client.statsJob(id))
const tubeStats = async client => parseYaml(await client.statsTube(tube))
const refused = word => error => error.message.startsWith(word)

async function putAndReserve(client, options) {
  const id = await client.put('work', options)
  assert.equal((await client.reserve()).id, id)
  return id
}

before(async () => {
  server = await broker.start([], broker.RETRIED)
})

after(() => server.stop())

beforeEach(() => {
  clients = []
  tube = `jackd-${process.pid}-${++tubeCount}`
})

afterEach(async () => {
  await Promise.all(clients.map(client => client.quit()))
})

test('a job that is put is reserved with its id and body', async () => {
  const client = await connect()
  const id = await client.put('a body with\r\na line end')
  const job = await client.reserve()
  assert.equal(job.id, id)
  assert.equal(job.payload.toString(), 'a body with\r\na line end')
})

test('a body of 60,000 bytes comes back whole', async () => {
  const client = await connect()
  const body = 'x'.repeat(59999) + 'y'
  await client.put(body)
  assert.equal((await client.reserve()).payload.toString(), body)
})

test('objects arrive as JSON', async () => {
  const client = await connect()
  await client.put({ to: 'a@example.org', parts: [1, 2] })
  const { payload } = await client.reserve()
  assert.deepEqual(JSON.parse(payload), { to: 'a@example.org', parts: [1, 2] })
})

test('a waiting reserve gets the job that another client puts', async () => {
  const [worker, producer] = [await connect(), await connect()]
  const waiting = worker.reserve()
  const id = await producer.put('late')
  assert.equal((await waiting).id, id)
})

test('the lowest priority number is reserved first, then the oldest job', async () => {
  const client = await connect()
  const last = await client.put('c', { priority: 20 })
  const first = await client.put('a', { priority: 10 })
  const second = await client.put('b', { priority: 10 })
  const ids = []
  for (let i = 0; i < 3; i++) ids.push((await client.reserve()).id)
  assert.deepEqual(ids, [first, second, last])
})

test('reserve-with-timeout 0 says TIMED_OUT on an empty tube', async () => {
  const client = await connect()
  await assert.rejects(client.reserveWithTimeout(0), refused('TIMED_OUT'))
})

test('reserve-with-timeout 1 says TIMED_OUT after a second', async () => {
  const client = await connect()
  const begun = Date.now()
  await assert.rejects(client.reserveWithTimeout(1), refused('TIMED_OUT'))
  assert.ok(Date.now() - begun >= 950)
})

test('a deleted job is gone', async () => {
  const client = await connect()
  const id = await putAndReserve(client)
  await client.delete(id)
  await assert.rejects(client.delete(id), refused('NOT_FOUND'))
  await assert.rejects(client.peek(id), refused('NOT_FOUND'))
})

test('a released job is ready again with its new priority', async () => {
  const client = await connect()
  const id = await putAndReserve(client, { priority: 5 })
  await client.release(id, { priority: 7 })
  const stats = await jobStats(client, id)
  assert.equal(stats.state, 'ready')
  assert.equal(stats.pri, '7')
  assert.equal(stats.releases, '1')
  assert.equal((await client.reserve()).id, id)
})

test('a job released with a delay comes back after it', async () => {
  const client = await connect()
  const id = await putAndReserve(client)
  await client.release(id, { delay: 3 })
  assert.equal((await jobStats(client, id)).state, 'delayed')
  assert.equal((await client.peekDelayed()).id, id)
  assert.equal((await client.reserveWithTimeout(30)).id, id)
})

test('release by a client that does not hold the job says NOT_FOUND', async () => {
  const [holder, other] = [await connect(), await connect()]
  const id = await putAndReserve(holder)
  await assert.rejects(other.release(id), refused('NOT_FOUND'))
})

test('a buried job waits for a kick', async () => {
  const client = await connect()
  const id = await putAndReserve(client)
  await client.bury(id, 3)
  assert.equal((await jobStats(client, id)).state, 'buried')
  assert.equal((await client.peekBuried()).id, id)
  await assert.rejects(client.reserveWithTimeout(0), refused('TIMED_OUT'))
  assert.equal(await client.kick(10), 1)
  assert.equal((await client.reserve()).id, id)
  assert.equal((await jobStats(client, id)).kicks, '1')
})

test('kick moves as many as it is told, the longest buried first', async () => {
  const client = await connect()
  const ids = []
  for (let i = 0; i < 3; i++) ids.push(await putAndReserve(client))
  for (const id of ids) await client.bury(id)
  assert.equal(await client.kick(2), 2)
  assert.equal((await client.peekBuried()).id, ids[2])
  assert.equal((await tubeStats(client))['current-jobs-ready'], '2')
})

test('kick moves delayed jobs where none is buried', async () => {
  const client = await connect()
  const id = await client.put('later', { delay: 3600 })
  assert.equal(await client.kick(1), 1)
  assert.equal((await client.reserve()).id, id)
})

test('kick-job moves that job only', async () => {
  const client = await connect()
  const first = await putAndReserve(client)
  const second = await putAndReserve(client)
  await client.bury(first)
  await client.bury(second)
  await client.kickJob(second)
  assert.equal((await client.reserve()).id, second)
  assert.equal((await client.peekBuried()).id, first)
})

test('a job is given to another when its time to run is over', async () => {
  const [slow, other] = [await connect(), await connect()]
  const id = await putAndReserve(slow, { ttr: 3 })
  assert.equal((await other.reserveWithTimeout(30)).id, id)
  assert.equal((await jobStats(other, id)).timeouts, '1')
  await assert.rejects(slow.touch(id), refused('NOT_FOUND'))
})

test('touch restarts the time to run', async () => {
  const client = await connect()
  const id = await putAndReserve(client, { ttr: 60 })
  const timeLeft = async () => Number((await jobStats(client, id))['time-left'])
  while ((await timeLeft()) > 57);
  await client.touch(id)
  assert.ok((await timeLeft()) > 57)
})

test('a reserve close to the end of a lease says DEADLINE_SOON', async () => {
  const client = await connect()
  await putAndReserve(client, { ttr: 3 })
  await assert.rejects(client.reserve(), refused('DEADLINE_SOON'))
})

test('a delayed job is ready after its delay', async () => {
  const client = await connect()
  const begun = Date.now()
  const id = await client.put('later', { delay: 3 })
  assert.equal((await jobStats(client, id)).state, 'delayed')
  assert.equal((await client.reserve()).id, id)
  assert.ok(Date.now() - begun >= 2950)
})

test('a paused tube hands out nothing until the pause is over', async () => {
  const client = await connect()
  const id = await client.put('work')
  await client.pauseTube(tube, { delay: '3\r\n' })
  assert.equal((await tubeStats(client)).pause, '3')
  await assert.rejects(client.reserveWithTimeout(0), refused('TIMED_OUT'))
  assert.equal((await client.reserveWithTimeout(30)).id, id)
})

test('a pause is ended by a pause of 0', async () => {
  const client = await connect()
  const id = await client.put('work')
  await client.pauseTube(tube, { delay: '3600\r\n' })
  await client.pauseTube(tube, { delay: '0\r\n' })
  assert.equal((await client.reserveWithTimeout(30)).id, id)
})

test('a pause of an unknown tube says NOT_FOUND', async () => {
  const client = await connect()
  await assert.rejects(client.pauseTube('nowhere', { delay: '1\r\n' }), refused('NOT_FOUND'))
})

test('reserve-job takes the job that it names', async () => {
  const client = await connect()
  await client.put('first')
  const id = await client.put('second', { delay: 3600 })
  const job = await client.reserveJob(id)
  assert.equal(job.id, id)
  assert.equal(job.payload.toString(), 'second')
  await assert.rejects(client.reserveJob(id), refused('NOT_FOUND'))
})

test('peek shows a job and leaves it where it is', async () => {
  const client = await connect()
  const id = await client.put('look')
  assert.equal((await client.peek(id)).payload.toString(), 'look')
  assert.equal((await client.peekReady()).id, id)
  await assert.rejects(client.peekDelayed(), refused('NOT_FOUND'))
  assert.equal((await client.reserve()).id, id)
})

test('watch and ignore say how many tubes are watched', async () => {
  const client = await connect()
  const other = `${tube}-other`
  assert.equal(await client.watch(other), 2)
  assert.equal(await client.watch(other), 2)
  const names = (await client.listTubesWatched()).match(/^- .+$/gm).sort()
  assert.deepEqual(names, [`- ${tube}`, `- ${other}`])
  assert.equal(await client.ignore(other), 1)
  await assert.rejects(client.ignore(tube), refused('NOT_IGNORED'))
})

test('use says and remembers the tube', async () => {
  const client = await connect()
  assert.equal(await client.use(`${tube}-used`), `${tube}-used`)
  assert.equal(await client.listTubeUsed(), `${tube}-used`)
  assert.ok((await client.listTubes()).includes(`- ${tube}-used\n`))
})

test('jobs of a client that leaves are ready again', async () => {
  const [leaving, other] = [await connect(), await connect()]
  const id = await putAndReserve(leaving)
  await leaving.quit()
  assert.equal((await other.reserveWithTimeout(30)).id, id)
})

test('stats count what was done', async () => {
  const client = await connect()
  const earlier = parseYaml(await client.stats())
  await client.delete(await putAndReserve(client))
  const stats = parseYaml(await client.stats())
  for (const key of ['cmd-put', 'cmd-reserve', 'cmd-delete', 'total-jobs']) {
    assert.equal(Number(stats[key]), Number(earlier[key]) + 1, key)
  }
  assert.match(stats.version, /^"?1\.\d+"?$/)
  assert.equal(stats.draining, 'false')
})

test('stats of a job and of a tube tell their state', async () => {
  const client = await connect()
  const id = await client.put('work', { priority: 9, delay: 60, ttr: 30 })
  const job = await jobStats(client, id)
  assert.equal(job.id, id)
  assert.equal(job.tube.replaceAll('"', ''), tube)
  assert.deepEqual([job.pri, job.delay, job.ttr], ['9', '60', '30'])
  const stats = await tubeStats(client)
  assert.equal(stats['current-jobs-delayed'], '1')
  assert.equal(stats['current-using'], '1')
  await assert.rejects(client.statsJob('999999999'), /NOT_FOUND/)
})

test('a job that is too big is refused, and the connection lives on', async () => {
  const client = await connect()
  await assert.rejects(client.put('x'.repeat(70000)), refused('JOB_TOO_BIG'))
  const id = await client.put('small')
  assert.equal((await client.reserve()).id, id)
})

test('fifty clients share a thousand jobs, each done once', async () => {
  const producer = await connect()
  const workers = []
  for (let i = 0; i < 50; i++) workers.push(await connect())
  const done = []
  const work = workers.map(async worker => {
    for (let i = 0; i < 20; i++) {
      const { id, payload } = await worker.reserve()
      done.push(Number(payload.toString()))
      await worker.delete(id)
    }
  })
  for (let i = 0; i < 1000; i++) await producer.put(String(i))
  await Promise.all(work)
  assert.deepEqual(done.sort((a, b) => a - b), [...Array(1000).keys()])
})

test('a job that is lost twice has been retried, and is a dead letter then', async () => {
  tube += '.retried'
  const client = await connect()
  const id = await client.put('work', { ttr: 60 })
  const [first, second] = [await connect(), await connect()]
  assert.equal((await first.reserve()).id, id)
  await first.quit()
  while ((await jobStats(client, id)).state === 'reserved');
  assert.equal((await jobStats(client, id)).state, 'delayed')
  assert.equal((await second.reserveWithTimeout(30)).id, id)
  await second.quit()
  await client.watch(`${tube}.dead`)
  assert.equal((await client.reserveWithTimeout(30)).id, id)
  const stats = await jobStats(client, id)
  assert.deepEqual([stats.tube, stats['dead-from']], [`"${tube}.dead"`, `"${tube}"`])
})
