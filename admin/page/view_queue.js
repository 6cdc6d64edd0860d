// SPDX-License-Identifier: MIT
// One queue: its numbers, wait and run times, jobs and actions.

import { get } from './api.js'
import { bars } from './bars.js'
import { lineChart } from './chart.js'
import { card, el, facts, link, setText } from './dom.js'
import { NONE, rate, seconds, short, whole } from './format.js'
import * as history from './history.js'
import * as live from './live.js'
import { STATES, heading, tiles } from './parts.js'
import { queueActions, queueBadges } from './queue_actions.js'
import { queueContents } from './queue_contents.js'

const TILES = [
  ...STATES.map(state => ({
    key: state,
    name: state[0].toUpperCase() + state.slice(1),
    mark: state
  })),
  { key: 'oldest', name: 'Oldest ready' },
  { key: 'workers', name: 'Workers' },
  { key: 'in', name: 'In' },
  { key: 'out', name: 'Done' }
]
// The values of a removed queue.
const NOTHING = {
  jobs: { ready: 0, delayed: 0, reserved: 0, buried: 0 },
  bands: { high: 0, normal: 0, low: 0 },
  oldest_ready_seconds: null,
  workers: 0,
  waiting: 0,
  paused: false
}
const TOTALS = [
  ['submitted', 'Submitted'],
  ['completed', 'Completed'],
  ['failed', 'Failed'],
  ['deleted', 'Deleted'],
  ['buried', 'Buried'],
  ['timeouts', 'Timed out'],
  ['retries', 'Retried'],
  ['released', 'Released'],
  ['kicked', 'Kicked'],
  ['expired', 'Expired'],
  ['dead', 'Dead-lettered']
]

const NO_POLICY = 'None: no section [queue …] matches its name.'

// The origin of the policy, and its settings.
function policyWords(policy) {
  if (!policy) return [NO_POLICY, '']
  const said = Object.entries(policy.settings).map(([key, value]) => `${key} = ${value}`)
  return [
    policy.run_time
      ? `[queue ${policy.glob}], made at run time`
      : `[queue ${policy.glob}] of ${policy.origin}`,
    said.join(', ') || 'It has no settings.'
  ]
}

const perSecond = value => (value === null ? NONE : `${rate(value)}/s`)

function tileValues(
  { jobs, bands, oldest_ready_seconds: oldest, workers, waiting, totals },
  series
) {
  return {
    ready: [
      short(jobs.ready),
      jobs.ready ? `${short(bands.high)} high, ${short(bands.low)} low` : ''
    ],
    delayed: [short(jobs.delayed)],
    reserved: [short(jobs.reserved)],
    buried: [short(jobs.buried)],
    oldest: [seconds(oldest)],
    workers: [short(workers), `${short(waiting)} waiting`],
    in: [perSecond(series.rate('submitted')), `${short(totals.submitted)} in all`],
    out: [perSecond(series.rate('completed')), `${short(totals.completed)} in all`]
  }
}

export function queue(scope, root, address, path) {
  let now = null
  const top = tiles(TILES)
  const marks = queueBadges()
  const flow = lineChart({
    label: 'Jobs a second',
    format: rate,
    height: 180,
    series: [{ name: 'In' }, { name: 'Done' }, { name: 'Failed, deleted' }]
  })
  const stock = lineChart({
    label: 'Jobs in this queue',
    format: short,
    height: 180,
    whole: true,
    series: [{ name: 'Ready' }, { name: 'Reserved' }, { name: 'Buried' }]
  })
  const wait = bars('From ready to reserved')
  const run = bars('From reserved to done')
  const totals = facts(TOTALS, 'columns')
  const limits = facts(
    [
      ['high', 'High'],
      ['normal', 'Normal'],
      ['low', 'Low']
    ],
    'columns'
  )
  const policyOrigin = el('p', { class: 'hint' }, ' ')
  const policySaid = el('p', {}, ' ')
  const chosen = address.get('state')
  const below = queueContents(
    scope,
    path,
    [...STATES, 'workers'].includes(chosen) ? chosen : 'ready'
  )
  let offered = null

  function build() {
    offered = queueActions(() => now, refresh)
    root.append(
      heading(now.name, {
        up: link('#/queues', 'Queues'),
        badges: marks.node,
        actions: offered.node
      }),
      top.node,
      el(
        'div',
        { class: 'grid-two' },
        card('Jobs a second', {}, flow.node),
        card('Jobs', {}, stock.node)
      ),
      el(
        'div',
        { class: 'grid-two' },
        card('Wait: ready to reserved', {}, wait.node),
        card('Run: reserved to done', {}, run.node)
      ),
      below.node,
      el(
        'div',
        { class: 'grid-two' },
        card('Since it was created', {}, totals.node),
        card(
          'Limits',
          {},
          el(
            'p',
            { class: 'hint' },
            'Maximum number of jobs up to which submissions are accepted, by priority.'
          ),
          limits.node
        )
      ),
      card('Policy', {}, policyOrigin, policySaid)
    )
    document.title = `${now.name} · Tandem`
    live.want({}, now.path)
    history.watch([now.path])
  }

  function draw(queue) {
    if (now && queue.path !== now.path) return
    now = queue
    const series = history.queueSeries(queue.path)
    if (!offered) build()
    offered.draw(queue)
    marks.draw(queue)
    below.draw(queue)
    wait.draw(queue.wait)
    run.draw(queue.run)
    totals.update(Object.fromEntries(TOTALS.map(([key]) => [key, whole(queue.totals[key])])))
    limits.update(
      Object.fromEntries(
        ['high', 'normal', 'low'].map(key => [
          key,
          queue.limits[key] ? whole(queue.limits[key]) : 'none'
        ])
      )
    )
    const [origin, said] = policyWords(queue.policy)
    setText(policyOrigin, origin)
    setText(policySaid, said)
    drawTime(series)
  }

  // Values that change with time alone.
  function drawTime(series) {
    const at = history.now()
    top.draw(tileValues(now, series))
    flow.draw(at, [series.rates('submitted'), series.rates('completed'), series.rates('ended')])
    stock.draw(at, [series.values('ready'), series.values('reserved'), series.values('buried_now')])
  }

  // A queue is removed when it is empty and unused. The page keeps showing it, as it may come back.
  function drawGone() {
    if (!now || now.gone) return
    draw({ ...now, ...NOTHING, gone: true })
    below.clear()
  }

  scope.live('queue', draw)
  scope.live('gone', drawGone)
  scope.live('process', () => now && drawTime(history.queueSeries(now.path)))
  const ask = scope.every(10000, async () => {
    try {
      const found = await get(`queues/${path}`, scope.signal)
      history.noteQueue(found)
      draw(found)
    } catch (error) {
      if (error.status !== 404 || !now) throw error
      drawGone()
    }
  })
  const list = scope.every(3000, () => (now?.gone ? Promise.resolve() : below.load(false)))
  const refresh = () => {
    ask()
    list()
  }
}
