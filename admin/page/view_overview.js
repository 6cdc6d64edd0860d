// SPDX-License-Identifier: MIT
// The overview of the broker.

import { get } from './api.js'
import { attention } from './attention.js'
import { lineChart } from './chart.js'
import { clusterCard } from './cluster_card.js'
import { card, el } from './dom.js'
import { rate, seconds, short } from './format.js'
import * as history from './history.js'
import {
  attentionCard,
  journalCard,
  loopCard,
  memoryCard,
  protocolTable,
  totalsCard
} from './overview_cards.js'
import { tiles } from './parts.js'
import { session } from './session.js'

const TILES = [
  { key: 'ready', name: 'Ready', mark: 'ready', href: '#/queues?with=ready&sort=-ready' },
  { key: 'delayed', name: 'Delayed', mark: 'delayed', href: '#/queues?with=delayed&sort=-delayed' },
  {
    key: 'reserved',
    name: 'Reserved',
    mark: 'reserved',
    href: '#/queues?with=reserved&sort=-reserved'
  },
  { key: 'buried', name: 'Buried', mark: 'buried', href: '#/queues?with=buried&sort=-buried' },
  { key: 'queues', name: 'Queues', href: '#/queues' },
  { key: 'workers', name: 'Workers', href: '#/connections?show=workers' },
  { key: 'producers', name: 'Producers', href: '#/connections' },
  { key: 'connections', name: 'Connections', href: '#/connections' }
]

// The change since the page was opened, or over the last ten minutes.
function trend(key) {
  const found = history.change(key)
  if (!found) return ''
  const { by, over } = found
  return `${by > 0 ? '+' : by < 0 ? '−' : '±'}${short(Math.abs(by))} in ${seconds(over)}`
}

function tileValues({ jobs, bands, queues, workers, waiting, producers, protocols }, idle) {
  const open = protocols.reduce((sum, { connections }) => sum + connections, 0)
  return {
    ready: [short(jobs.ready), `${short(bands.high)} urgent`],
    delayed: [short(jobs.delayed), trend('delayed')],
    reserved: [short(jobs.reserved), trend('reserved')],
    buried: [short(jobs.buried), trend('buried_now')],
    queues: [short(queues), idle === null ? '' : `${short(idle)} unworked`],
    workers: [short(workers), `${short(waiting)} waiting`],
    producers: [short(producers)],
    connections: [short(open), `${rate(history.whole.rate('commands'))} cmds/s`]
  }
}

// The first few of the queues that need attention.
async function askQueues(signal) {
  const [unworked, oldest, buried] = await Promise.all([
    get('queues?with=unworked&sort=-ready&limit=5', signal),
    get('queues?with=ready&sort=-oldest_ready_seconds&limit=5', signal),
    get('queues?with=buried&sort=-buried&limit=3', signal)
  ])
  return {
    unworked: unworked.queues,
    oldest: oldest.queues,
    buried: buried.queues,
    idle: unworked.matched
  }
}

// Data that the caller may not see is left out.
const allowed = (asked, otherwise) =>
  asked.catch(error => {
    if (error.status === 403) return otherwise
    throw error
  })

export function overview(scope, root) {
  const top = tiles(TILES)
  const flow = lineChart({
    label: 'Jobs a second',
    format: rate,
    series: [{ name: 'In' }, { name: 'Done' }, { name: 'Failed, deleted' }]
  })
  const stock = lineChart({
    label: 'Jobs in the broker',
    format: short,
    whole: true,
    series: [{ name: 'Ready' }, { name: 'Reserved' }, { name: 'Delayed' }, { name: 'Buried' }]
  })
  const needs = attentionCard()
  const parts = [journalCard(), memoryCard(), loopCard(), totalsCard()]
  const protocols = protocolTable()
  const sharing = clusterCard()
  root.append(
    el('div', { class: 'title' }, el('h1', {}, 'Overview')),
    top.node,
    el(
      'div',
      { class: 'grid-charts' },
      card('Jobs a second', {}, flow.node),
      needs.node,
      card('Jobs', {}, stock.node)
    ),
    el(
      'div',
      { class: 'grid-cards' },
      parts.map(({ node }) => node)
    ),
    card('Protocols', { class: 'flush' }, protocols.node),
    sharing.node
  )
  let journal = null
  let cluster = null
  let queues = { unworked: [], oldest: [], buried: [], idle: null }
  const draw = process => {
    top.draw(tileValues(process, queues.idle))
    const { now } = process
    const series = history.whole
    flow.draw(now, [series.rates('submitted'), series.rates('completed'), series.rates('ended')])
    stock.draw(
      now,
      ['ready', 'reserved', 'delayed', 'buried_now'].map(key => series.values(key))
    )
    for (const part of parts.slice(1)) part.draw(process)
    protocols.rows(process.protocols, true)
    needs.draw(attention(process, journal, queues, cluster))
  }
  draw(session.process)
  scope.live('process', draw)
  scope.every(5000, async () => {
    journal = await allowed(get('journal', scope.signal), null)
    if (journal) parts[0].draw(journal)
    cluster = await allowed(get('cluster', scope.signal), null)
    if (cluster) sharing.draw(cluster)
  })
  scope.every(5000, async () => {
    queues = await allowed(askQueues(scope.signal), queues)
    needs.draw(attention(session.process, journal, queues, cluster))
  })
}
