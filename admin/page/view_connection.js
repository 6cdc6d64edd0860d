// SPDX-License-Identifier: MIT
// One connection: who it is, what it takes jobs from, and what it holds.

import { get } from './api.js'
import { badge, card, el, facts, link } from './dom.js'
import { bytes, seconds, whole } from './format.js'
import { heldTable } from './job_table.js'
import { heading } from './parts.js'
import { roles } from './worker_table.js'

const FACTS = [
  ['protocol', 'Protocol'],
  ['peer', 'Peer'],
  ['tls', 'TLS'],
  ['caller', 'Caller', 'Whom it speaks for, where rules know it'],
  ['name', 'Client id', 'What a Gearman client calls itself'],
  ['since', 'Connected for'],
  ['queues', 'Queues'],
  ['held', 'Jobs held'],
  ['watches', 'Watches', 'Jobs that it waits for the end of'],
  ['received', 'Received'],
  ['sent', 'Sent'],
  ['unread', 'Not taken yet', 'Output that the peer has not taken yet'],
  ['kept', 'Kept for it']
]

function values(found) {
  return {
    protocol: found.protocol,
    peer: found.peer,
    tls: found.tls ? 'yes' : 'no',
    caller: found.caller ?? 'nobody in particular',
    name: found.client_id ?? 'none',
    since: seconds(found.connected_seconds),
    queues: whole(found.subscriptions),
    held: whole(found.jobs_held),
    watches: whole(found.watches),
    received: bytes(found.received_bytes),
    sent: bytes(found.sent_bytes),
    unread: bytes(found.unread_bytes),
    kept: bytes(found.kept_bytes)
  }
}

const SHOWN = 200

export function connection(scope, root, address, id) {
  const shown = facts(FACTS, 'columns')
  const held = heldTable()
  const marks = el('span', { class: 'badges' })
  const queues = el('ul', { class: 'names' })
  let drawn = ''

  // Not before something is known of it: what stands below would jump.
  function build() {
    root.append(
      heading(`Connection ${id}`, { up: link('#/connections', 'Connections'), badges: marks }),
      card('Who it is', {}, shown.node),
      card('Takes jobs from', {}, queues),
      card('Jobs it holds', { class: 'flush' }, held.node)
    )
  }

  scope.every(2000, async () => {
    const found = await get(`connections/${id}`, scope.signal)
    shown.update(values(found))
    held.rows(found.jobs)
    if (!drawn) build()
    const text = JSON.stringify([found.queue_paths, roles(found)])
    if (text === drawn) return
    drawn = text
    marks.replaceChildren(...roles(found).map(([kind, label]) => badge(kind, label)))
    const more = found.queues.length - SHOWN
    queues.replaceChildren(
      ...found.queues
        .slice(0, SHOWN)
        .map((name, at) => el('li', {}, link(`#/queues/${found.queue_paths[at]}`, name))),
      ...(more > 0 ? [el('li', {}, `and ${whole(more)} more`)] : []),
      ...(found.queues.length ? [] : [el('li', { class: 'hint' }, 'It takes from no queue.')])
    )
  })
}
