// SPDX-License-Identifier: MIT
// One connection: its peer, the queues it takes jobs from, and the jobs it holds.

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
  ['caller', 'Caller', 'The role or identity from the access rules'],
  ['name', 'Client id', 'The id that a Gearman client set'],
  ['since', 'Connected for'],
  ['queues', 'Queues'],
  ['held', 'Jobs held'],
  ['watches', 'Watches', 'Jobs whose end it waits for'],
  ['received', 'Received'],
  ['sent', 'Sent'],
  ['unread', 'Unread', 'Output that the peer has not read yet'],
  ['kept', 'Memory']
]

function values(found) {
  return {
    protocol: found.protocol,
    peer: found.peer,
    tls: found.tls ? 'yes' : 'no',
    caller: found.caller ?? 'none',
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

  // Built only when there is data, so that the layout does not move.
  function build() {
    root.append(
      heading(`Connection ${id}`, { up: link('#/connections', 'Connections'), badges: marks }),
      card('Connection', {}, shown.node),
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
      ...(found.queues.length ? [] : [el('li', { class: 'hint' }, 'It takes jobs from no queue.')])
    )
  })
}
