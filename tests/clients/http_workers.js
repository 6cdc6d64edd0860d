// SPDX-License-Identifier: MIT
'use strict'

// Workers for the tests of HTTP: GearmaNode's for Gearman, jackd for beanstalk. Each has leave();
// leave() of the module is for all that were made.

const { once } = require('node:events')
const Jackd = require('jackd')
const winston = require('winston')

// GearmaNode's log says nothing that a test needs.
for (const name of ['Client', 'Job', 'JobServer', 'LBStrategy', 'Worker', 'protocol']) {
  winston.loggers.add(name, { silent: true })
}
winston.configure({ silent: true })
const gearmanode = require('gearmanode')

const parties = []

// A Gearman worker that does `work`, which is given GearmaNode's job, for a function.
function gearmanWorker(server, func, work) {
  const worker = gearmanode.worker(server.gearman)
  worker.on('error', error => {
    throw error
  })
  worker.addFunction(func, work)
  worker.leave = () => {
    parties.splice(parties.indexOf(worker), 1)
    worker.close()
  }
  parties.push(worker)
  return worker
}

// A Gearman worker that collects the jobs that it is given: arrival() resolves to the next.
function holdingWorker(server, func) {
  const waiting = []
  const jobs = []
  const worker = gearmanWorker(server, func, job => {
    const resolve = waiting.shift()
    if (resolve) resolve(job)
    else jobs.push(job)
  })
  worker.arrival = () =>
    jobs.length > 0 ? Promise.resolve(jobs.shift()) : new Promise(resolve => waiting.push(resolve))
  return worker
}

// A beanstalk client that uses and watches one tube.
async function beanstalkWorker(server, tube) {
  const client = await new Jackd().connect({ host: server.host, port: server.port })
  client.leave = () => {
    parties.splice(parties.indexOf(client), 1)
    return client.quit()
  }
  parties.push(client)
  await client.use(tube)
  await client.watch(tube)
  await client.ignore('default')
  return client
}

// Until the server has done what a worker told it before.
async function heard(worker) {
  const echoed = once(worker.jobServers[0], 'echo')
  worker.jobServers[0].echo('heard')
  await echoed
}

async function leave() {
  await Promise.all([...parties].map(party => party.leave()))
}

module.exports = { gearmanWorker, holdingWorker, beanstalkWorker, heard, leave }
