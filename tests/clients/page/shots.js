// SPDX-License-Identifier: MIT
'use strict'

// TANDEMD=PATH node shots.js FOLDER [SECONDS]: screenshots of each view, in light and dark, on a desktop
// and on a phone, of a broker that clients of all protocols have used for SECONDS (default 60).

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const Jackd = require('jackd')
const bed = require('./bed.js')

const [folder, seconds = '60'] = process.argv.slice(2)
const data = fs.mkdtempSync(path.join(os.tmpdir(), 'tandem-shots-'))
const pause = time => new Promise(resolve => setTimeout(resolve, time))

let over = false

// Tubes with the jobs per second, the number of workers, the milliseconds per job, and the share of
// buried jobs.
const TUBES = [
  ['mail', 40, 4, 40, 0],
  ['mail-bounces', 3, 1, 20, 0.01],
  ['invoices.render', 12, 2, 120, 0],
  ['webhooks', 18, 3, 90, 0.04],
  ['search.index', 25, 2, 30, 0],
  ['video.transcode', 1.5, 1, 900, 0],
  ['exports.nightly', 0.4, 0, 0, 0]
]
const FUNCTIONS = [
  ['thumbnails', 15, 3, 60],
  ['geocode', 6, 1, 30],
  ['pdf', 2, 1, 200]
]

// Calls act() at about this rate per second, with slow variations.
async function often(rate, act) {
  const phase = Math.random() * 6
  while (!over) {
    const now = rate * (1 + 0.35 * Math.sin(Date.now() / 9000 + phase) + 0.2 * Math.random())
    await act()
    await pause(1000 / now)
  }
}

async function connect(server, tube) {
  const client = await new Jackd().connect({ host: server.host, port: server.port })
  await client.use(tube)
  return client
}

async function produce(server, tube, rate) {
  const client = await connect(server, tube)
  let count = 0
  await often(rate, () => {
    const body = JSON.stringify({ tenant: `customer-${count % 37}`, number: count, attempt: 1 })
    const priority = count % 20 ? 65536 : 100
    return client.put(body, { priority, delay: count++ % 50 ? 0 : 300, ttr: 120 })
  })
  await client.quit()
}

async function work(server, tube, time, share) {
  const client = await connect(server, tube)
  await client.watch(tube)
  await client.ignore('default')
  while (!over) {
    const job = await client.reserveWithTimeout(1).catch(() => null)
    if (!job) continue
    await pause(time * (0.5 + Math.random()))
    await (Math.random() < share ? client.bury(job.id) : client.delete(job.id))
  }
  await client.quit()
}

function load(server) {
  const parties = TUBES.flatMap(([tube, rate, workers, time, share]) => [
    produce(server, tube, rate),
    ...Array.from({ length: workers }, () => work(server, tube, time, share))
  ])
  for (const [name, rate, workers, time] of FUNCTIONS) {
    for (let i = 0; i < workers; i++) {
      bed.workers.gearmanWorker(server, name, async job => {
        await pause(time * (0.5 + Math.random()))
        job.workComplete('done')
      })
    }
    parties.push(often(rate, () => bed.post(name, '{"picture": 17, "width": 320}')))
  }
  return Promise.all(parties)
}

// [name, address], of what there is at the time.
async function views() {
  const job = async (queue, state) =>
    (await bed.api('GET', `queues/${queue}/jobs?state=${state}`)).jobs[0]?.id ?? 1
  const { connections } = await bed.api('GET', 'workers?queue=mail')
  return [
    ['overview', '#/'],
    ['queues', '#/queues?sort=-ready'],
    ['queue', '#/queues/mail'],
    ['job', `#/jobs/${await job('exports.nightly', 'ready')}`],
    ['job-delayed', `#/jobs/${await job('mail', 'delayed')}`],
    ['connections', '#/connections?show=workers'],
    ['connection', `#/connections/${connections[0].id}`],
    ['operations', '#/operations'],
    ['journal', '#/journal'],
    ['configuration', '#/configuration']
  ]
}

async function shoot(page, name) {
  for (const [view, hash] of await views()) {
    await page.evaluate(to => {
      location.hash = to
    }, hash)
    await pause(view === 'queue' || view === 'queues' ? 8000 : 1500)
    await page.screenshot({ path: path.join(folder, `${view}-${name}.png`) })
  }
}

async function main() {
  fs.mkdirSync(folder, { recursive: true })
  await bed.start()
  const server = await bed.serve([`journal.dir=${data}`, 'server.max_memory=256M'])
  const loaded = load(server)
  const looks = ['light', 'dark'].flatMap(scheme => [
    [`desk-${scheme}`, { scheme, size: { width: 1440, height: 900 } }],
    [`phone-${scheme}`, { scheme, size: { width: 360, height: 740 } }]
  ])
  const pages = await Promise.all(looks.map(([, look]) => bed.open('#/queues?sort=-ready', look)))
  await pause(Number(seconds) * 500)
  for (const action of ['kick', 'delete']) {
    await bed.api('POST', 'operations', { action, queue: 'webhooks', dry_run: action === 'delete' })
  }
  await pause(Number(seconds) * 500)
  await Promise.all(pages.map((page, i) => shoot(page, looks[i][0])))
  over = true
  await loaded
  await bed.leave()
  await bed.stop()
  fs.rmSync(data, { recursive: true })
}

main()
