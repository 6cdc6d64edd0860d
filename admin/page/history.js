// SPDX-License-Identifier: MIT
// The last ten minutes, as far as this page has seen them. They are kept across views, and go with
// the tab.

export const SPAN = 600
const QUEUES_KEPT = 500
// A change that takes longer is not drawn as one: nobody was listening.
export const GAP = 6
const RATE_OVER = 5
const LEAST = 0.5

// Values by time, oldest first.
class Series {
  constructor() {
    this.points = []
  }

  add(point) {
    const last = this.points.at(-1)
    // A stream that begins anew tells the same moment again.
    if (last && point.t - last.t < LEAST) return
    this.points.push(point)
    const first = this.points.findIndex(({ t }) => t >= point.t - SPAN)
    if (first > 60) this.points.splice(0, first)
  }

  // The last point at or before that time.
  at(time) {
    for (let i = this.points.length - 1; i >= 0; i--)
      if (this.points[i].t <= time) return this.points[i]
    return null
  }

  // How fast a counter rises, by the second, over the last few; null: not known yet.
  rate(key, now = this.points.at(-1)?.t) {
    const last = this.points.at(-1)
    const before = this.at(now - RATE_OVER) ?? this.points[0]
    if (!last || now - before.t < 0.5) return null
    return Math.max(0, last[key] - before[key]) / (now - before.t)
  }

  // [{t, v}] of a value; null where nothing was heard in between.
  values(key) {
    return this.lines((point, before) => (point.t - before.t > GAP ? null : point[key]))
  }

  rates(key) {
    return this.lines((point, before) => {
      const time = point.t - before.t
      return time > GAP || point[key] < before[key] ? null : (point[key] - before[key]) / time
    })
  }

  lines(value) {
    const list = []
    for (let i = 1; i < this.points.length; i++) {
      list.push({ t: this.points[i].t, v: value(this.points[i], this.points[i - 1]) })
    }
    return list
  }
}

export let whole = new Series()
let start = null

// Notes a Process. After a restart everything begins anew.
export function noteProcess(process) {
  const id = `${process.pid} ${process.started_at}`
  if (start !== null && id !== start) {
    whole = new Series()
    queues.clear()
  }
  start = id
  // Queues are told of behind the process: what is known now is of its last moment.
  if (whole.points.length) sampleQueues(whole.points.at(-1).t)
  const sum = key => process.protocols.reduce((all, protocol) => all + protocol[key], 0)
  whole.add({
    t: process.now,
    ...process.totals,
    ended: process.totals.failed + process.totals.deleted,
    ready: process.jobs.ready,
    delayed: process.jobs.delayed,
    reserved: process.jobs.reserved,
    buried_now: process.jobs.buried,
    commands: sum('commands'),
    received: sum('received_bytes'),
    sent: sum('sent_bytes'),
    turns: process.loop.turns,
    memory: process.memory.used_bytes,
    processor: process.cpu.user_seconds + process.cpu.system_seconds,
    ...Object.fromEntries(
      process.protocols.map(({ name, commands }) => [`commands ${name}`, commands])
    )
  })
}

const queues = new Map()
// Path -> at how many samples it was there.
let watched = new Map()

// Which queues are being told of: the others' lines break.
export function watch(paths) {
  watched = new Map(paths.map(path => [path, watched.get(path) ?? 0]))
}

// Notes a Queue, which comes only when it has changed.
export function noteQueue({ path, jobs, totals }) {
  const entry = queues.get(path) ?? { series: new Series() }
  entry.latest = {
    ready: jobs.ready,
    reserved: jobs.reserved,
    buried_now: jobs.buried,
    submitted: totals.submitted,
    completed: totals.completed,
    ended: totals.failed + totals.deleted
  }
  // Those that were seen last stand last.
  queues.delete(path)
  queues.set(path, entry)
  if (queues.size > QUEUES_KEPT) queues.delete(queues.keys().next().value)
}

// Takes what was told of queues for what they were at that time.
function sampleQueues(t) {
  for (const [path, count] of watched) {
    watched.set(path, count + 1)
    const entry = queues.get(path)
    // What is known at first was asked for some time in between.
    if (entry && count > 0) entry.series.add({ t, ...entry.latest })
  }
}

const NONE = new Series()
export const queueSeries = path => queues.get(path)?.series ?? NONE

// The time by the broker's clock.
export const now = () => whole.points.at(-1)?.t ?? 0

// How much a value has changed, and since when; null: not known yet.
export function change(key) {
  const first = whole.points[0]
  const last = whole.points.at(-1)
  return first && last.t - first.t >= 1
    ? { by: last[key] - first[key], over: last.t - first.t }
    : null
}
