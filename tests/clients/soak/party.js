// SPDX-License-Identifier: MIT
'use strict'

// A party of a soak, in JavaScript: party.js ROLE NUMBER SEED STOP_FILE. What it writes, book.py
// tells.

const fs = require('node:fs')
const { once } = require('node:events')
const { setTimeout: sleep } = require('node:timers/promises')
const winston = require('winston')
const Jackd = require('jackd')

for (const name of ['Client', 'Job', 'JobServer', 'LBStrategy', 'Worker', 'protocol']) {
  winston.loggers.add(name, { silent: true })
}
winston.configure({ silent: true })
const gearmanode = require('gearmanode')

const LONG = 120 // seconds: longer than anybody holds a job

const [role, number, seed, stopFile] = process.argv.slice(2)
const queues = ['soak-0', 'soak-1', 'soak-2']
let state = Number(seed)
let count = 0

// A number from 0 up to `end`, by the seed.
function random(end) {
  state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff
  return (state / 0x80000000) * end
}

// One write for each line: what is killed leaves no half of one.
const note = (...words) => fs.writeSync(1, `${words.join(' ')}\n`)
const anyQueue = () => queues[Math.floor(random(3))]
const newJob = ending => `${number}-${++count}${ending}`
const isToStop = () => fs.existsSync(stopFile)

function address(protocol) {
  const [host, port] = process.env[`${protocol}_ADDRESS`].split(':')
  return { host, port: Number(port) }
}

async function beanstalk() {
  const client = await new Jackd().connect(address('BEANSTALK'))
  for (const queue of queues) await client.watch(queue)
  await client.ignore('default')
  return client
}

function gearman(kind) {
  const party = gearmanode[kind](address('GEARMAN'))
  for (const event of ['error', 'socketError', 'jobServerError']) {
    party.on(event, (...what) => {
      throw new Error(`${event} ${what}`)
    })
  }
  return party
}

async function putWithBeanstalk() {
  const client = await beanstalk()
  while (!isToStop()) {
    const job = newJob('-bean')
    await client.use(anyQueue())
    note('put', job)
    await client.put(job, {
      priority: Math.floor(random(100000)),
      delay: random(1) < 0.05 ? 1 : 0,
      ttr: LONG
    })
    note('accepted', job)
    await sleep(random(20))
  }
  await client.quit()
}

async function workWithBeanstalk() {
  const client = await beanstalk()
  for (;;) {
    const { id, payload } = await client.reserve()
    const job = payload.toString()
    note('took', job)
    await sleep(random(10))
    if (random(1) < 0.05) {
      note('released', job)
      await client.release(id, { delay: Math.floor(random(2)) })
      continue
    }
    note('finishing', job)
    if (job.endsWith('-fail')) await client.bury(id)
    else await client.delete(id)
  }
}

function submit(client, job, options) {
  return client.submitJob(anyQueue(), job, options)
}

async function putSome(client) {
  for (let left = random(5); left > 0; left--) {
    const job = newJob('-bg')
    note('put', job)
    const priority = ['HIGH', 'NORMAL', 'LOW'][Math.floor(random(3))]
    await once(submit(client, job, { background: true, priority }), 'created')
    note('accepted', job)
  }
}

function call(client) {
  const job = newJob(random(1) < 0.1 ? '-fail' : '-fg')
  note('call', job)
  const task = submit(client, job, {})
  return new Promise(resolve => {
    task.on('complete', () => resolve(note('answer', job, task.response)))
    task.on('failed', () => resolve(note('answer', job, 'failed')))
  })
}

async function submitWithGearman() {
  const client = gearman('client')
  while (!isToStop()) {
    if (random(1) < 0.5) await putSome(client)
    else await Promise.all(Array.from({ length: 1 + random(10) }, () => call(client)))
    await sleep(random(50))
  }
  client.close()
}

function workWithGearman() {
  const worker = gearman('worker')
  const work = async given => {
    const job = given.payload.toString()
    note('took', job)
    await sleep(random(10))
    note('finishing', job)
    if (job.endsWith('-fail')) given.reportError()
    else given.workComplete(`done ${job}`)
  }
  for (const queue of queues) worker.addFunction(queue, work)
}

const roles = {
  'bean-producer': putWithBeanstalk,
  'bean-worker': workWithBeanstalk,
  'gearman-client': submitWithGearman,
  'gearman-worker': workWithGearman
}
roles[role]()
