// SPDX-License-Identifier: MIT
// The contents of a queue: its jobs and its workers.

import { get, query } from './api.js'
import { el, shape } from './dom.js'
import { short, whole } from './format.js'
import { jobTable } from './job_table.js'
import { STATES } from './parts.js'
import { pager } from './table.js'
import { tabs } from './tabs.js'
import { workerTable } from './worker_table.js'

const PAGE = 25

// Jobs by state, and workers, in pages.
export function queueContents(scope, path, chosen) {
  const pages = pager(() => load(true).catch(scope.fail))
  let list
  const begin = key => {
    pages.reset()
    list =
      key === 'workers'
        ? workerTable('Workers of this queue', 'This queue has no workers.')
        : jobTable(key)
    area.panel.replaceChildren(list.node)
  }
  const area = tabs(
    'Jobs by state, and workers',
    [
      ...STATES.map(state => ({ key: state, title: state, mark: shape(state) })),
      { key: 'workers', title: 'workers' }
    ],
    chosen,
    key => {
      chosen = key
      begin(key)
      load(true).catch(scope.fail)
    }
  )
  begin(chosen)

  async function load(forced) {
    const { cursor } = pages
    const key = chosen
    const found =
      key === 'workers'
        ? await get(
            `workers?queue=${path}&${query({ limit: PAGE, cursor }).slice(1)}`,
            scope.signal
          )
        : await get(
            `queues/${path}/jobs${query({ state: key, limit: PAGE, cursor })}`,
            scope.signal
          )
    if (key !== chosen || cursor !== pages.cursor) return
    const rows = found.jobs ?? found.connections
    list.rows(rows, forced)
    const from = pages.page * PAGE
    pages.update(found.next, rows.length ? `${whole(from + 1)}–${whole(from + rows.length)}` : '')
  }
  const node = el(
    'section',
    { class: 'card flush' },
    el('div', { class: 'card-tools' }, area.node, pages.node),
    area.panel
  )
  const draw = ({ jobs, workers }) => {
    for (const state of STATES) area.note(state, short(jobs[state]))
    area.note('workers', short(workers))
  }
  const clear = () => list.rows([], true)
  return { node, draw, load, clear }
}
