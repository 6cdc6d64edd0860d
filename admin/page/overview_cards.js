// SPDX-License-Identifier: MIT
// The cards of the overview: each has an element and a draw function.

import { LIMITS, RULES } from './attention.js'
import { percentile, spread } from './bars.js'
import { badge, card, el, facts, link, setAttribute, setText, shape } from './dom.js'
import { bytes, percent, rate, seconds, whole } from './format.js'
import * as history from './history.js'
import { meter } from './parts.js'
import { table } from './table.js'

export function attentionCard() {
  const list = el('ul', { class: 'attention', tabindex: 0, 'aria-label': 'What needs attention' })
  const says = el('span', { class: 'card-note' })
  const rules = el(
    'details',
    { class: 'rules' },
    el('summary', {}, 'Rules'),
    el(
      'ul',
      {},
      RULES.map(text => el('li', { text }))
    )
  )
  const node = card('Attention', { beside: says, class: 'attention-card' }, list, rules)
  const draw = items => {
    setText(says, items.length ? '' : 'all is well')
    const nodes = items.map(({ kind, text, more, href }) =>
      el(
        'li',
        { class: `alarm alarm-${kind}` },
        shape(kind),
        el(
          'div',
          {},
          href ? link(href, text) : el('strong', { text }),
          more && el('span', { text: more })
        )
      )
    )
    const calm = el(
      'li',
      { class: 'calm' },
      shape('good'),
      el('span', {}, 'Nothing needs attention.')
    )
    if (!list.contains(document.activeElement) || list === document.activeElement)
      list.replaceChildren(...(items.length ? nodes : [calm]))
  }
  return { node, draw }
}

export function journalCard() {
  const shown = facts([
    ['size', 'On disk'],
    ['live', 'Of live jobs'],
    ['fsync', 'Sync'],
    ['half', 'A sync, p50'],
    ['late', 'A sync, p99'],
    ['errors', 'Errors']
  ])
  const share = meter('Live of all bytes')
  const node = card(
    'Journal',
    { beside: link('#/journal', 'More', { 'aria-label': 'More about the journal' }) },
    share.node,
    shown.node
  )
  const draw = journal => {
    if (!journal.enabled)
      return shown.update({
        size: 'none',
        live: 'jobs are in memory only',
        fsync: '–',
        half: '–',
        late: '–',
        errors: '–'
      })
    const buckets = spread(journal.syncs)
    share.draw(journal.live_bytes, journal.bytes)
    return shown.update({
      size: bytes(journal.bytes),
      live: `${bytes(journal.live_bytes)} (${percent(journal.live_bytes, journal.bytes)})`,
      fsync: journal.failing ? badge('bad', 'failing') : journal.fsync,
      half: seconds(percentile(buckets, 0.5)),
      late: seconds(percentile(buckets, 0.99)),
      errors: whole(journal.errors)
    })
  }
  return { node, draw }
}

export function memoryCard() {
  const shown = facts([
    ['used', 'By clients', 'Memory used on behalf of clients'],
    ['limit', 'Limit', 'server.max_memory'],
    ['resident', 'Resident'],
    ['files', 'Descriptors']
  ])
  const share = meter('Memory of its limit')
  const kinds = el('ul', { class: 'kinds' })
  const node = card('Memory', {}, share.node, shown.node, kinds)
  const draw = ({ memory, descriptors }) => {
    share.draw(memory.used_bytes, memory.limit_bytes, LIMITS.near)
    shown.update({
      used: bytes(memory.used_bytes),
      limit: memory.limit_bytes ? bytes(memory.limit_bytes) : 'none',
      resident: bytes(memory.resident_bytes),
      files: `${whole(descriptors.open)} of ${whole(descriptors.limit)}`
    })
    const largest = Object.entries(memory.kinds)
      .filter(([, value]) => value)
      .sort((a, b) => b[1] - a[1])
      .slice(0, 4)
    const text = largest.map(([name, value]) => `${name} ${bytes(value)}`)
    while (kinds.children.length > text.length) kinds.lastChild.remove()
    text.forEach((one, i) => setText(kinds.children[i] ?? kinds.appendChild(el('li')), one))
  }
  return { node, draw }
}

export function loopCard() {
  const shown = facts([
    ['turns', 'Turns a second'],
    ['longest', 'Longest turn', 'The longest turn in about the last minute'],
    ['lag', 'Late by', 'The largest delay of a due timer in about the last minute'],
    ['slow', 'Slow turns'],
    ['cpu', 'Processor'],
    ['threads', 'I/O threads'],
    ['up', 'Up for']
  ])
  const draw = process => {
    const processor = history.whole.rate('processor')
    shown.update({
      turns: rate(history.whole.rate('turns')),
      longest: seconds(process.loop.longest_seconds),
      lag: seconds(process.loop.lag_seconds),
      slow: whole(process.loop.slow_turns),
      cpu: processor === null ? '–' : percent(processor, 1),
      threads: whole(process.loop.io_threads),
      up: seconds(process.uptime_seconds)
    })
  }
  return { node: card('Loop', {}, shown.node), draw }
}

export function totalsCard() {
  const names = [
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
  const shown = facts(names, 'columns')
  const draw = ({ totals }) =>
    shown.update(Object.fromEntries(names.map(([key]) => [key, whole(totals[key])])))
  return { node: card('Since the start', {}, shown.node), draw }
}

export function protocolTable() {
  const refused = ({ refusals }) => Object.values(refusals).reduce((sum, one) => sum + one, 0)
  return table({
    label: 'Protocols',
    key: ({ name }) => name,
    skeleton: 4,
    columns: [
      { title: 'Protocol', text: ({ name }) => name },
      { title: 'Listens on', text: ({ listening }) => listening.join(', ') || 'nowhere' },
      { title: 'Open', number: true, text: ({ connections }) => whole(connections) },
      { title: 'Accepted', number: true, text: ({ accepted }) => whole(accepted) },
      { title: 'Commands', number: true, text: ({ commands }) => whole(commands) },
      {
        title: 'A second',
        number: true,
        text: ({ name }) => rate(history.whole.rate(`commands ${name}`))
      },
      { title: 'Received', number: true, text: ({ received_bytes: number }) => bytes(number) },
      { title: 'Sent', number: true, text: ({ sent_bytes: number }) => bytes(number) },
      {
        title: 'Refused',
        number: true,
        draw: (cell, row) => {
          setText(cell, whole(refused(row)))
          setAttribute(
            cell,
            'title',
            Object.entries(row.refusals)
              .filter(([, one]) => one)
              .map(([kind, one]) => `${kind} ${one}`)
              .join(', ') || null
          )
        }
      }
    ]
  })
}
