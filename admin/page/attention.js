// SPDX-License-Identifier: MIT
// Rules with thresholds that decide what needs attention. The page lists the rules.

import * as history from './history.js'
import { bytes, count, percent, seconds } from './format.js'
import { percentile, spread } from './bars.js'

export const LIMITS = {
  oldest: 300,
  sync: 0.1,
  lag: 0.1,
  near: 0.8,
  disk: 0.1
}

export const RULES = [
  'The number of buried jobs has grown within the last ten minutes',
  'A queue has ready jobs and no workers',
  `A job has been ready for more than ${seconds(LIMITS.oldest)}`,
  `One sync in a hundred takes more than ${seconds(LIMITS.sync)}, or the journal fails`,
  `Memory or descriptors are above ${percent(LIMITS.near, 1)} of their limit`,
  `The free space on the disk is less than ${percent(LIMITS.disk, 1)} of the size of the journal`,
  `The loop is late by more than ${seconds(LIMITS.lag)}`,
  'A shared journal has no standby, or its database does not replicate commits',
  'The broker drains'
]

const place = queue => `#/queues/${queue.path}`

function ofQueues({ unworked, oldest, buried }) {
  const list = []
  for (const queue of unworked) {
    list.push({
      kind: 'bad',
      text: `${queue.name} has no workers`,
      more: `${count(queue.jobs.ready, 'ready job')}`,
      href: place(queue)
    })
  }
  for (const queue of oldest) {
    if (!(queue.oldest_ready_seconds > LIMITS.oldest)) continue
    list.push({
      kind: 'warn',
      text: `${queue.name} is behind`,
      more: `oldest job ready for ${seconds(queue.oldest_ready_seconds)}`,
      href: place(queue)
    })
  }
  const points = history.whole.points
  const grown = points.length ? points.at(-1).buried_now - points[0].buried_now : 0
  if (grown > 0) {
    const where = buried
      .map(({ name }) => name)
      .slice(0, 3)
      .join(', ')
    list.push({
      kind: 'warn',
      text: `${count(grown, 'more buried job')} than ${seconds(points.at(-1).t - points[0].t)} ago`,
      more: where && `most in ${where}`,
      href: '#/queues?with=buried&sort=-buried'
    })
  }
  return list
}

function ofJournal(journal) {
  if (!journal?.enabled) return []
  const list = []
  if (journal.failing)
    list.push({
      kind: 'bad',
      text: 'The journal fails',
      more: 'new durable jobs are refused',
      href: '#/journal'
    })
  const slow = percentile(spread(journal.syncs), 0.99)
  if (slow > LIMITS.sync)
    list.push({
      kind: 'warn',
      text: 'Syncs are slow',
      more: `one in a hundred takes more than ${seconds(slow)}`,
      href: '#/journal'
    })
  const { free_bytes: free, bytes: used } = journal
  if (free !== null && free < used * LIMITS.disk) {
    list.push({
      kind: 'warn',
      text: 'The disk is nearly full',
      more: `${bytes(free)} free`,
      href: '#/journal'
    })
  }
  return list
}

function ofProcess({ memory, descriptors, loop, draining }) {
  const list = []
  const near = (name, used, limit) => {
    if (limit && used > limit * LIMITS.near)
      list.push({
        kind: 'warn',
        text: `${name} near the limit`,
        more: `${percent(used, limit)} used`
      })
  }
  if (memory.short)
    list.push({ kind: 'bad', text: 'Memory is short', more: 'new jobs are refused' })
  else near('Memory is', memory.used_bytes, memory.limit_bytes)
  near('Descriptors are', descriptors.open, descriptors.limit)
  if (loop.lag_seconds > LIMITS.lag)
    list.push({
      kind: 'warn',
      text: 'The loop is late',
      more: `by ${seconds(loop.lag_seconds)} at worst`
    })
  if (draining)
    list.push({
      kind: 'info',
      text: 'The broker drains',
      more: 'new jobs are refused',
      href: '#/configuration'
    })
  return list
}

function ofCluster(cluster) {
  if (!cluster || cluster.role === 'alone') return []
  const { database, members } = cluster
  const list = []
  if (!database.connected)
    list.push({ kind: 'bad', text: 'The database cannot be reached', more: database.why ?? '' })
  if (database.trusted) return [...list, ...ofMembers(members)]
  if (!database.durable)
    list.push({ kind: 'bad', text: 'Commits do not wait for a disk', more: database.settings })
  else if (!database.replicated)
    list.push({ kind: 'warn', text: 'Commits wait for one server only', more: database.settings })
  return [...list, ...ofMembers(members)]
}

function ofMembers(members) {
  if (members.some(({ owner, takes_over: takesOver }) => takesOver && !owner)) return []
  return [{ kind: 'warn', text: 'There is no standby', more: 'no process could take over' }]
}

// [{kind, text, more, href}], the worst first.
export function attention(process, journal, queues, cluster) {
  const list = [
    ...ofProcess(process),
    ...ofJournal(journal),
    ...ofCluster(cluster),
    ...ofQueues(queues)
  ]
  const rank = { bad: 0, warn: 1, info: 2 }
  return list.sort((a, b) => rank[a.kind] - rank[b.kind])
}
