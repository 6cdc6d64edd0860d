// SPDX-License-Identifier: MIT
'use strict'

// Clients of one protocol whose jobs are done by workers of the other, over the same queue: jackd
// speaks beanstalk, GearmaNode and Abraxas speak Gearman. Each test has a queue of its own.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const { after, afterEach, before, beforeEach, test } = require('node:test')
const winston = require('winston')
const Jackd = require('jackd')
const { Client: Abraxas } = require('abraxas')
const broker = require('./broker.js')

// The log of GearmaNode says nothing that a test needs.
for (const name of ['Client', 'Job', 'JobServer', 'LBStrategy', 'Worker', 'protocol']) {
  winston.loggers.add(name, { silent: true })
}
winston.configure({ silent: true })
const gearmanode = require('gearmanode')

let server
let ticking // the connections of Abraxas do not keep Node.js from ending
let endings
let queue
let queueCount = 0

async function beanstalk() {
  const client = await new Jackd().connect({ host: server.host, port: server.port })
  endings.push(() => client.quit())
  await client.use(queue)
  await client.watch(queue)
  await client.ignore('default')
  return client
}

function gearman(kind) {
  const party = gearmanode[kind]({ ...server.gearman })
  endings.push(() => party.close())
  return party
}

async function abraxas() {
  const party = Abraxas.connect({ ...server.gearman, defaultEncoding: 'utf8' })
  endings.push(() => party.disconnect())
  await once(party, 'connect')
  return party
}

// Resolves to the next job that a new Gearman worker is given.
function nextJob() {
  const worker = gearman('worker')
  return new Promise(resolve => worker.addFunction(queue, resolve))
}

function submit(payload, options = {}) {
  return gearman('client').submitJob(queue, payload, options)
}

async function submitBackground(payload, options) {
  const job = submit(payload, { ...options, background: true })
  await once(job, 'created')
  return job
}

// The last number in a handle is the id of the job.
const idIn = handle => handle.slice(handle.lastIndexOf(':') + 1)

// beanstalk's statistics are a mapping of one level in YAML.
async function tubeStats(client) {
  const lines = (await client.statsTube(queue)).split('\n').filter(line => line.includes(': '))
  return Object.fromEntries(lines.map(line => line.split(': ')))
}

async function untilEmpty(client) {
  const states = ['ready', 'reserved', 'delayed', 'buried', 'urgent']
  for (;;) {
    const stats = await tubeStats(client)
    if (states.every(state => stats[`current-jobs-${state}`] === '0')) return
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
  endings = []
  queue = `crossing-${process.pid}-${++queueCount}`
})

afterEach(() => Promise.all(endings.map(end => end())))

test('a job put by a beanstalk client is done by a Gearman worker', async () => {
  const client = await beanstalk()
  const arrival = nextJob()
  const id = await client.put('a body with\r\na line end')
  const job = await arrival
  assert.equal(job.payload.toString(), 'a body with\r\na line end')
  assert.equal(idIn(job.handle), id)
  job.workComplete('done')
  await untilEmpty(client)
})

test('a job that was put before the Gearman worker came wakes it', async () => {
  const client = await beanstalk()
  await client.put('work')
  const job = await nextJob()
  assert.equal(job.payload.toString(), 'work')
  job.workComplete()
  await untilEmpty(client)
})

test('a foreground job is done by a beanstalk worker', async () => {
  const worker = await beanstalk()
  const waiting = worker.reserve()
  const job = submit('work')
  const created = once(job, 'created')
  const { id, payload } = await waiting
  assert.equal(payload.toString(), 'work')
  await created
  assert.equal(idIn(job.handle), id)
  const complete = once(job, 'complete')
  await worker.delete(id)
  await complete
  assert.equal(job.response.length, 0)
})

test('a background job is done by a beanstalk worker, and is known until then', async () => {
  const worker = await beanstalk()
  const party = await abraxas()
  const handle = await party.submitJobBg(queue, 'work')
  const { id, payload } = await worker.reserve()
  assert.deepEqual([idIn(handle), payload.toString()], [id, 'work'])
  const status = () =>
    new Promise((resolve, reject) =>
      party.getStatus(handle, (error, answer) => (error ? reject(error) : resolve(answer))))
  assert.deepEqual(await status(), { known: 1, running: 1, complete: 0 })
  await worker.delete(id)
  assert.deepEqual(await status(), { known: 0, running: 0, complete: 0 })
})

test('a foreground job that a beanstalk worker buries has failed', async () => {
  const worker = await beanstalk()
  const job = submit('work')
  const { id } = await worker.reserve()
  const failed = once(job, 'failed')
  await worker.bury(id)
  await failed
  await untilEmpty(worker)
})

test('a background job that a beanstalk worker buries waits for a kick', async () => {
  const worker = await beanstalk()
  await submitBackground('work')
  const { id } = await worker.reserve()
  await worker.bury(id)
  assert.equal((await tubeStats(worker))['current-jobs-buried'], '1')
  await worker.kickJob(id)
  const job = await nextJob()
  assert.equal(idIn(job.handle), id)
  job.workComplete()
  await untilEmpty(worker)
})

test('a job that a beanstalk client put is buried when a Gearman worker fails it', async () => {
  const client = await beanstalk()
  const id = await client.put('work')
  const job = await nextJob()
  job.reportError()
  let stats
  do stats = await tubeStats(client)
  while (stats['current-jobs-reserved'] !== '0')
  assert.equal(stats['current-jobs-buried'], '1')
  await client.delete(id)
})

test('priorities of both protocols are of one order', async () => {
  const client = await beanstalk()
  for (const priority of ['LOW', 'NORMAL', 'HIGH']) await submitBackground(priority, { priority })
  await client.put('urgent', { priority: 0 })
  await client.put('after high', { priority: 1024 })
  await client.put('after normal', { priority: 70000 })
  await client.put('last', { priority: 4294967295 })
  const order = []
  for (let i = 0; i < 7; i++) {
    const { id, payload } = await client.reserve()
    order.push(payload.toString())
    await client.delete(id)
  }
  assert.deepEqual(order,
    ['urgent', 'HIGH', 'after high', 'NORMAL', 'after normal', 'LOW', 'last'])
})

test('the job of a beanstalk worker that leaves is given to a Gearman worker', async () => {
  const leaving = await beanstalk()
  const job = submit('work')
  await leaving.reserve()
  const arrival = nextJob()
  leaving.socket.destroy()
  endings.splice(0, 1)
  const complete = once(job, 'complete')
  ;(await arrival).workComplete('done')
  await complete
  assert.equal(job.response.toString(), 'done')
})

test('a job that a Gearman worker holds too long goes to a beanstalk worker', async () => {
  const client = await beanstalk()
  const arrival = nextJob()
  const id = await client.put('work', { ttr: 1 })
  await arrival
  assert.equal((await client.reserve()).id, id)
  await client.delete(id)
})

test('a beanstalk client kicks and releases what Gearman workers get', async () => {
  const client = await beanstalk()
  await submitBackground('work')
  const { id } = await client.reserve()
  await client.release(id, { priority: 1 })
  const job = await nextJob()
  assert.equal(idIn(job.handle), id)
  job.workComplete()
  await untilEmpty(client)
})

test('both protocols count the same jobs', async () => {
  const client = await beanstalk()
  const party = await abraxas()
  await client.put('work')
  await client.put('later', { delay: 3600 })
  await submitBackground('work')
  await client.reserve()
  const status = await new Promise((resolve, reject) =>
    party.status((error, answer) => (error ? reject(error) : resolve(answer))))
  const { inqueue, running } = status[queue]
  assert.deepEqual([inqueue, running], [3, 1])
  const stats = await tubeStats(client)
  assert.deepEqual(
    ['ready', 'reserved', 'delayed'].map(state => stats[`current-jobs-${state}`]),
    ['1', '1', '1'])
})
