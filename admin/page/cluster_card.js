// SPDX-License-Identifier: MIT
// The card about a journal that several brokers share.

import { percentile, spread } from './bars.js'
import { badge, card, el, facts, setText } from './dom.js'
import { moment, seconds, whole } from './format.js'
import { table } from './table.js'

const FACTS = [
  ['role', 'This broker is'],
  ['owner', 'Owner'],
  ['since', 'Since'],
  ['epoch', 'Epoch', 'Rises by one with each owner'],
  ['behind', 'Rows not here yet'],
  ['database', 'Database'],
  ['commit', 'A commit waits for', 'By the settings of the database'],
  ['half', 'A commit, p50'],
  ['late', 'A commit, p99'],
  ['proxied', 'Passed on', 'Connections that are passed on to the owner, and were so far']
]

function commit({ durable, replicated, trusted }) {
  if (trusted) return 'what the database promises'
  if (!durable) return badge('bad', 'no disk')
  return replicated ? 'a disk and a second server' : badge('warn', 'one server only')
}

function role({ owner, takes_over: takesOver }) {
  if (owner) return 'owner'
  return takesOver ? 'follows' : 'follows only'
}

// Hidden where the journal is nobody else's.
export function clusterCard() {
  const says = el('span', { class: 'card-note' })
  const shown = facts(FACTS, 'columns')
  const members = table({
    label: 'Members',
    key: ({ node }) => node,
    skeleton: 0,
    columns: [
      { title: 'Member', text: ({ node, self }) => (self ? `${node}, this one` : node) },
      { title: 'Role', text: role },
      { title: 'Epoch', number: true, text: ({ epoch }) => whole(epoch) },
      { title: 'Rows behind', number: true, text: ({ behind }) => whole(behind) },
      { title: 'Heard of', number: true, text: ({ seen_seconds: ago }) => `${seconds(ago)} ago` },
      { title: 'Listens at', text: ({ address }) => address }
    ]
  })
  const node = card('Shared journal', { beside: says }, shown.node, members.node)
  node.hidden = true
  const draw = cluster => {
    node.hidden = cluster.role === 'alone'
    if (node.hidden) return
    const { database } = cluster
    const buckets = spread(database.syncs)
    setText(says, cluster.shard)
    shown.update({
      role: cluster.role === 'unsure' ? badge('bad', 'unsure') : cluster.role,
      owner: cluster.owner ?? badge('bad', 'nobody'),
      since: moment(cluster.since),
      epoch: whole(cluster.epoch),
      behind: whole(cluster.behind),
      database: database.connected ? 'connected' : badge('bad', 'away'),
      commit: commit(database),
      half: seconds(percentile(buckets, 0.5)),
      late: seconds(percentile(buckets, 0.99)),
      proxied: `${whole(cluster.proxied.connections)}, ${whole(cluster.proxied.total)}`
    })
    members.rows(cluster.members, true)
  }
  return { node, draw }
}
