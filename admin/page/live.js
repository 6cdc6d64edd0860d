// SPDX-License-Identifier: MIT
// The event stream of the page. The view selects its events. If no stream gets through, for example
// because of an old proxy, the page polls instead.

import { get, query, readiness, request } from './api.js'
import { readEvents } from './stream.js'

const SILENCE = 10000
const POLL_EVERY = 2000
const POLLS = 30
const BACKOFF = [500, 1000, 2000, 4000, 8000]

const listeners = new Map()
let wanted = {}
let wantedQueue = ''
let reading = null
let failures = 0
let heard = false

// state: connecting, live, polling, away, starting (the broker reads its journal), refused.
export const link = { state: 'connecting', detail: '', since: Date.now() }

function tell(event, data) {
  for (const act of [...(listeners.get(event) ?? [])]) act(data)
}

// Calls act(data) for each event; -> a function that ends this.
export function on(event, act) {
  if (!listeners.has(event)) listeners.set(event, new Set())
  listeners.get(event).add(act)
  return () => listeners.get(event).delete(act)
}

function become(state, detail = '') {
  if (link.state === state && link.detail === detail) return
  if (link.state !== state) link.since = Date.now()
  Object.assign(link, { state, detail })
  tell('link', link)
}

// The queue is already percent-encoded, as the API does it.
const asked = () =>
  [query(wanted).slice(1), wantedQueue && `queue=${wantedQueue}`].filter(Boolean).join('&')

// Selects the events besides `process`: a list of queues, by the parameters of /events, or one
// queue.
export function want(params, queue = '') {
  const before = asked()
  wanted = params
  wantedQueue = queue
  if (asked() === before) return
  reading?.abort()
}

export function again() {
  failures = 0
  reading?.abort()
}

function take(event, text) {
  if (event === 'bye') return
  heard = true
  failures = 0
  become('live')
  tell(event, JSON.parse(text))
}

async function pollQueue(signal) {
  try {
    tell('queue', await get(`queues/${wantedQueue}`, signal))
  } catch (error) {
    if (error.status !== 404) throw error
    tell('gone', null)
  }
}

async function pollOnce(signal) {
  tell('process', await get('process', signal))
  become('polling', 'Polling every two seconds, because the event stream does not get through')
  const { queues: limit, ...list } = wanted
  if (limit) tell('queues', await get(`queues${query({ ...list, limit })}`, signal))
  if (wantedQueue) await pollQueue(signal)
}

async function poll(signal) {
  for (let i = 0; i < POLLS && !signal.aborted; i++) {
    await pollOnce(signal)
    await pause(POLL_EVERY, signal)
  }
}

const pause = (time, signal) =>
  new Promise(resolve => {
    const timer = setTimeout(resolve, time)
    signal?.addEventListener(
      'abort',
      () => {
        clearTimeout(timer)
        resolve()
      },
      { once: true }
    )
  })

async function listen(signal) {
  heard = false
  try {
    await readEvents(await request('GET', `events?${asked()}`, { signal }), SILENCE, take)
  } catch (error) {
    // A proxy may hold back an open stream; and there may be too many streams.
    const silent = error.message === 'silent' && !heard
    const refused = error.status > 403 && (await readiness()) === ''
    if (!silent && !refused) throw error
    await poll(signal)
  }
}

// Finds out why no event arrives.
async function diagnose(error) {
  if (error?.status === 401 || error?.status === 403) return become('refused', error.message)
  const says = await readiness()
  if (says === null) return become('away', 'The broker does not answer')
  if (says) return become('starting', says)
  return become('away', error?.message ?? 'The event stream has ended')
}

// Reads the stream for as long as the page lives, and reconnects after any error.
export async function run() {
  for (;;) {
    reading = new AbortController()
    const { signal } = reading
    let error = null
    try {
      await listen(signal)
    } catch (caught) {
      error = caught
    }
    if (signal.aborted) continue
    await diagnose(error)
    const time = BACKOFF[Math.min(failures++, BACKOFF.length - 1)]
    await pause(link.state === 'refused' ? 60000 : time, signal)
  }
}
