// SPDX-License-Identifier: MIT
// The last ten minutes of data that this tab has received. All views share it.

export const SPAN = 600
const QUEUES_KEPT = 500
// A longer gap between two points is drawn as a gap: the stream was interrupted.
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
    // After a reconnect, the stream may repeat the last point.
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

  // The rate of a counter per second, over the last few seconds; null if unknown.
  rate(key, now = this.points.at(-1)?.t) {
    const last = this.points.at(-1)
    const before = this.at(now - RATE_OVER) ?? this.points[0]
    if (!last || now - before.t < 0.5) return null
    return Math.max(0, last[key] - before[key]) / (now - before.t)
  }

  // [{t, v}] of a value; v is null after a gap.
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

// Adds a Process. After a restart of the broker, the history starts again.
export function noteProcess(process) {
  const id = `${process.pid} ${process.started_at}`
  if (start !== null && id !== start) {
    whole = new Series()
    queues.clear()
  }
  start = id
  // Events of queues follow those of the process, so the known values belong to its last point.
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
// Path -> number of samples since it is watched.
let watched = new Map()

// Sets the queues that the stream reports; the lines of other queues get a gap.
export function watch(paths) {
  watched = new Map(paths.map(path => [path, watched.get(path) ?? 0]))
}

// Adds a Queue. The stream sends it only after a change.
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
  // Keeps the most recently seen queues at the end.
  queues.delete(path)
  queues.set(path, entry)
  if (queues.size > QUEUES_KEPT) queues.delete(queues.keys().next().value)
}

// Adds a point for each watched queue with its latest values.
function sampleQueues(t) {
  for (const [path, count] of watched) {
    watched.set(path, count + 1)
    const entry = queues.get(path)
    // The first values were requested between two points.
    if (entry && count > 0) entry.series.add({ t, ...entry.latest })
  }
}

const NONE = new Series()
export const queueSeries = path => queues.get(path)?.series ?? NONE

// The current time on the broker's clock.
export const now = () => whole.points.at(-1)?.t ?? 0

// The change of a value, and over how many seconds; null if unknown.
export function change(key) {
  const first = whole.points[0]
  const last = whole.points.at(-1)
  return first && last.t - first.t >= 1
    ? { by: last[key] - first[key], over: last.t - first.t }
    : null
}
