// SPDX-License-Identifier: MIT
// The card of a journal that several brokers share.

import { percentile, spread } from './bars.js'
import { badge, card, el, facts, setText } from './dom.js'
import { moment, seconds, whole } from './format.js'
import { table } from './table.js'

const FACTS = [
  ['role', 'This broker is'],
  ['owner', 'Owner'],
  ['since', 'Since'],
  ['epoch', 'Epoch', 'Increases by one with each change of the owner'],
  ['behind', 'Rows not read yet'],
  ['database', 'Database'],
  ['commit', 'A commit waits for', 'By the settings of the database'],
  ['half', 'A commit, p50'],
  ['late', 'A commit, p99'],
  ['proxied', 'Forwarded', 'Connections forwarded to the owner: now, and so far']
]

function commit({ durable, replicated, trusted }) {
  if (trusted) return 'the settings of the database'
  if (!durable) return badge('bad', 'no disk')
  return replicated ? 'a disk and a second server' : badge('warn', 'one server only')
}

function role({ owner, takes_over: takesOver }) {
  if (owner) return 'owner'
  return takesOver ? 'standby' : 'standby, never takes over'
}

// Hidden if the journal is not shared.
export function clusterCard() {
  const says = el('span', { class: 'card-note' })
  const shown = facts(FACTS, 'columns')
  const members = table({
    label: 'Members',
    key: ({ node }) => node,
    skeleton: 0,
    columns: [
      { title: 'Member', text: ({ node, self }) => (self ? `${node} (this process)` : node) },
      { title: 'Role', text: role },
      { title: 'Epoch', number: true, text: ({ epoch }) => whole(epoch) },
      { title: 'Rows behind', number: true, text: ({ behind }) => whole(behind) },
      { title: 'Last seen', number: true, text: ({ seen_seconds: ago }) => `${seconds(ago)} ago` },
      { title: 'Listens on', text: ({ address }) => address }
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
      owner: cluster.owner ?? badge('bad', 'none'),
      since: moment(cluster.since),
      epoch: whole(cluster.epoch),
      behind: whole(cluster.behind),
      database: database.connected ? 'connected' : badge('bad', 'not connected'),
      commit: commit(database),
      half: seconds(percentile(buckets, 0.5)),
      late: seconds(percentile(buckets, 0.99)),
      proxied: `${whole(cluster.proxied.connections)}, ${whole(cluster.proxied.total)}`
    })
    members.rows(cluster.members, true)
  }
  return { node, draw }
}
