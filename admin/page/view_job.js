// SPDX-License-Identifier: MIT
// One job: its contract, body, place, history and actions.

import { get, request } from './api.js'
import { bodyView, bytesOf } from './body.js'
import { button, card, el, facts, link, setAttribute, setText } from './dom.js'
import { band, bytes, count, moment, seconds, whole } from './format.js'
import { attempt } from './dialog.js'
import { jobActs } from './job_forms.js'
import { heading, meter, stateBadge } from './parts.js'
import { may } from './session.js'

const CONTRACT = [
  ['priority', 'Priority', '0 comes first'],
  ['ttr', 'Time to run'],
  ['delay', 'Last delay'],
  ['attempts', 'Attempts'],
  ['failure', 'If it fails'],
  ['loss', 'If its worker is lost'],
  ['durable', 'Durable', 'It survives a restart if there is a journal'],
  ['key', 'Unique key'],
  ['reducer', 'Reducer'],
  ['size', 'Body']
]
const PLACE = [
  ['state', 'State'],
  ['queue', 'Queue'],
  ['past', 'Dead-lettered from', 'A policy moved it to a dead-letter queue'],
  ['left', 'Time left'],
  ['holder', 'Held by'],
  ['watches', 'Watched by'],
  ['age', 'Age'],
  ['created', 'Submitted']
]
const EVENTS = {
  submitted: 'submitted',
  reserved: 'reserved',
  timed_out: 'timed out',
  released: 'released',
  buried: 'buried',
  kicked: 'kicked',
  ready: 'became ready',
  delayed: 'delayed until',
  held: 'held since'
}
const WHYS = {
  attempts: 'no attempt was left',
  failed: 'its worker reported a failure',
  exception: 'its worker reported an exception',
  expired: 'it waited too long'
}
// The actions that each state allows.
const ACTS = {
  ready: ['change', 'move', 'bury', 'remove'],
  delayed: ['kick', 'change', 'move', 'bury', 'remove'],
  reserved: ['touch', 'release', 'change', 'bury', 'remove'],
  buried: ['kick', 'change', 'move', 'remove']
}
const NAMES = {
  kick: 'Kick',
  touch: 'Touch',
  release: 'Release …',
  change: 'Change …',
  move: 'Move …',
  back: 'Move back',
  bury: 'Bury …',
  remove: 'Delete …'
}

function contractValues(job) {
  return {
    priority: `${whole(job.priority)} (${band(job.priority)})`,
    ttr: job.ttr_seconds ? seconds(job.ttr_seconds) : 'as long as its worker is connected',
    delay: seconds(job.delay_seconds),
    attempts: job.max_attempts
      ? `${job.attempts} of ${job.max_attempts} used`
      : `${job.attempts} used, no limit`,
    failure: job.on_failure === 'bury' ? 'it is buried' : 'it is dropped',
    loss: job.on_loss === 'front' ? 'it keeps its place' : 'it goes to the back',
    durable: job.durable ? 'yes' : 'no',
    key: job.key === null ? (job.key_kind === 'content' ? 'its body' : 'none') : job.key,
    reducer: job.reducer ?? 'none',
    size: bytes(job.body_bytes)
  }
}

function placeValues(job) {
  return {
    state: stateBadge(job.state),
    queue: link(`#/queues/${job.queue_path}`, job.queue),
    past:
      job.past === null
        ? 'none'
        : el(
            'span',
            {},
            link(`#/queues/${job.past.queue_path}`, job.past.queue),
            ` ${moment(job.past.at)}, after ${count(job.past.attempts, 'attempt')}: ${WHYS[job.past.why]}`
          ),
    left: job.left_seconds
      ? seconds(job.left_seconds) +
        (job.state === 'delayed' ? ' until it is ready' : ' of its lease')
      : '–',
    holder:
      job.holder === null
        ? job.state === 'reserved'
          ? 'unknown'
          : 'none'
        : link(`#/connections/${job.holder}`, `connection ${job.holder}`),
    watches: job.watches ? count(job.watches, 'client') : 'none',
    age: seconds(job.age_seconds),
    created: moment(job.created_at)
  }
}

function historyList(job) {
  return job.history.map(({ event, at, times }) =>
    el(
      'li',
      {},
      el(
        'span',
        { class: 'event' },
        EVENTS[event] ?? event,
        times > 1 ? ` ${whole(times)} times` : ''
      ),
      el('span', { class: 'hint' }, at === null ? '' : moment(at))
    )
  )
}

const ENDS = { complete: 'complete', failed: 'failed', exception: 'with an exception' }
const KEPT = {
  whole: 'yes',
  too_large: 'no: it was too large',
  lost: 'no: there was no memory'
}

// A job that has ended and whose result is kept.
function ended(root, job) {
  const { id, result, data } = job
  const end = facts([
    ['end', 'End'],
    ['at', 'Ended'],
    ['until', 'Kept until'],
    ['kept', 'Data kept']
  ])
  const up = el(
    'span',
    {},
    link('#/queues', 'Queues'),
    ' / ',
    link(`#/queues/${job.queue_path}`, job.queue)
  )
  const place = el('section', { class: 'card flush body-place' })
  const drawData = content =>
    place.replaceChildren(
      bodyView(content, result.bytes, `result-${id}`, () =>
        attempt(async () => {
          const response = await request('GET', `jobs/${id}/result`)
          drawData(new Uint8Array(await response.arrayBuffer()))
        })
      )
    )
  end.update({
    end: ENDS[result.end],
    at: moment(result.ended_at),
    until: moment(result.until),
    kept: KEPT[result.kept]
  })
  root.replaceChildren(
    heading(`Job ${id} has ended`, { up }),
    card('Result', {}, end.node),
    ...(data ? [place] : [])
  )
  if (data) drawData(bytesOf(data))
}

function gone(root, id) {
  root.replaceChildren(
    el(
      'div',
      { class: 'void' },
      el('h1', {}, `Job ${id} does not exist`),
      el('p', {}, 'It was completed or deleted, or you may not observe its queue.'),
      link('#/queues', 'To the queues', { class: 'button' })
    )
  )
}

export function job(scope, root, address, id) {
  const marks = el('span', { class: 'badges' })
  const acts = el('div', { class: 'actions' })
  const where = el('a')
  const contract = facts(CONTRACT)
  const place = facts(PLACE)
  const progress = meter('Progress')
  const says = el('p', { class: 'hint' })
  const past = el('ol', { class: 'past' })
  const body = el('section', { class: 'card flush body-place' })
  let drawn = false
  let state = null
  let job = null

  function build() {
    const up = el('span', {}, link('#/queues', 'Queues'), ' / ', where)
    root.append(
      heading(`Job ${id}`, { up, badges: marks, actions: acts }),
      el(
        'div',
        { class: 'grid-two' },
        card('Where it is', {}, place.node, says, progress.node),
        card('Contract', {}, contract.node)
      ),
      card('History', {}, past),
      body
    )
    drawBody(job.body ? bytesOf(job.body) : new Uint8Array(), job.body_bytes)
  }

  function drawBody(content, size) {
    body.replaceChildren(
      bodyView(content, size, `job-${id}`, () =>
        attempt(async () => {
          const response = await request('GET', `jobs/${id}/body`, { signal: scope.signal })
          drawBody(new Uint8Array(await response.arrayBuffer()), size)
        })
      )
    )
  }

  function drawActs() {
    const back = job.past !== null && job.state !== 'reserved' ? ['back'] : []
    const now = [...back, job.state].join()
    if (state === now) return
    state = now
    marks.replaceChildren(stateBadge(job.state))
    if (!may('operate')) return
    acts.replaceChildren(
      ...[...back, ...ACTS[job.state]].map(name =>
        button(
          NAMES[name],
          async () => {
            const result = await jobActs[name](job)
            if (result === null && name === 'remove') location.hash = `#/queues/${job.queue_path}`
            else ask()
          },
          {
            class:
              name === 'remove'
                ? 'button danger-quiet'
                : name === 'kick' || name === 'back'
                  ? 'button primary'
                  : 'button'
          }
        )
      )
    )
  }

  function draw() {
    if (!drawn) build()
    drawn = true
    drawActs()
    setAttribute(where, 'href', `#/queues/${job.queue_path}`)
    setText(where, job.queue)
    contract.update(contractValues(job))
    place.update(placeValues(job))
    past.replaceChildren(...historyList(job))
    progress.node.hidden = job.progress === null
    const { numerator, denominator } = job.progress ?? {}
    setText(
      says,
      job.progress ? `Its worker has reported ${whole(numerator)} of ${whole(denominator)}` : ''
    )
    if (job.progress) progress.draw(numerator, denominator)
  }

  const ask = scope.every(2000, async () => {
    try {
      const found = await get(`jobs/${id}${drawn ? '?body=0' : ''}`, scope.signal)
      if (found.state === 'ended') {
        ended(root, drawn ? await get(`jobs/${id}`, scope.signal) : found)
        scope.leave()
        return
      }
      job = found
      draw()
    } catch (error) {
      if (error.status !== 404) throw error
      gone(root, id)
      scope.leave()
    }
  })
}
