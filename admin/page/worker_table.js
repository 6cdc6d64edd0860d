// SPDX-License-Identifier: MIT
// A table of connections.

import { badge, setText } from './dom.js'
import { bytes, seconds, whole } from './format.js'
import { drawLink, table } from './table.js'

// The roles of a connection, as [badge kind, label].
export function roles({ worker, producer, waiting, jobs_held: held }) {
  const list = []
  if (worker)
    list.push(held ? ['reserved', 'works'] : waiting ? ['delayed', 'waits'] : ['ready', 'worker'])
  if (producer) list.push(['info', 'producer'])
  return list
}

function drawRoles(cell, row) {
  const list = roles(row)
  const text = list.join()
  if (cell.dataset.roles === text) return
  cell.dataset.roles = text
  cell.replaceChildren(...list.map(([kind, label]) => badge(kind, label)))
}

const nameOf = ({ client_id: name, caller }) => [name, caller].filter(Boolean).join(' · ')

const COLUMNS = [
  { title: 'No.', draw: (cell, { id }) => drawLink(cell, `#/connections/${id}`, id) },
  { title: 'Protocol', text: ({ protocol, tls }) => `${protocol}${tls ? ' TLS' : ''}` },
  { title: 'Peer', text: ({ peer }) => peer },
  {
    title: 'Name',
    hint: 'The id that a Gearman client set; the role from the access rules',
    draw: (cell, row) => setText(cell, nameOf(row))
  },
  { title: 'Does', draw: drawRoles },
  {
    title: 'Queues',
    hint: 'Queues that it takes jobs from',
    number: true,
    text: ({ subscriptions }) => whole(subscriptions)
  },
  { title: 'Holds', hint: 'Jobs', number: true, text: ({ jobs_held: held }) => whole(held) },
  {
    title: 'Watches',
    hint: 'Jobs whose end it waits for',
    number: true,
    text: ({ watches }) => whole(watches)
  },
  {
    title: 'For',
    hint: 'Time since it connected',
    number: true,
    text: ({ connected_seconds: time }) => seconds(time)
  },
  { title: 'Received', number: true, text: ({ received_bytes: size }) => bytes(size) },
  { title: 'Sent', number: true, text: ({ sent_bytes: size }) => bytes(size) },
  {
    title: 'Memory',
    hint: 'Memory that the connection uses',
    number: true,
    text: ({ kept_bytes: size }) => bytes(size)
  }
]

export const workerTable = (label, empty) =>
  table({ label, empty, columns: COLUMNS, key: ({ id }) => id })
