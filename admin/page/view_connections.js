// SPDX-License-Identifier: MIT
// The list of connections and of workers.

import { get, query } from './api.js'
import { button, el } from './dom.js'
import { whole } from './format.js'
import { session } from './session.js'
import { pager } from './table.js'
import { workerTable } from './worker_table.js'

const PAGE = 50

export function connections(scope, root, address) {
  let chosen = address.get('show') ?? 'all'
  const list = workerTable('Connections', 'There is no such connection.')
  const pages = pager(() => load(true).catch(scope.fail))
  const kinds = [
    ['all', 'All'],
    ['workers', 'Workers'],
    ...session.process.protocols.map(({ name }) => [name, name])
  ]
  const chips = kinds.map(([key, title]) =>
    button(
      title,
      () => {
        chosen = key
        mark()
        pages.reset()
        window.history.replaceState(
          null,
          '',
          `#/connections${query({ show: key === 'all' ? '' : key })}`
        )
        load(true).catch(scope.fail)
      },
      { class: 'chip' }
    )
  )
  const mark = () =>
    chips.forEach((chip, i) => chip.setAttribute('aria-pressed', String(kinds[i][0] === chosen)))
  mark()

  async function load(forced) {
    const { cursor } = pages
    const kind = chosen
    const found =
      kind === 'workers'
        ? await get(`workers${query({ limit: PAGE, cursor })}`, scope.signal)
        : await get(
            `connections${query({ protocol: kind === 'all' ? '' : kind, limit: PAGE, cursor })}`,
            scope.signal
          )
    if (kind !== chosen || cursor !== pages.cursor) return
    list.rows(found.connections, forced)
    const from = pages.page * PAGE
    const { length } = found.connections
    pages.update(
      found.next,
      length ? `${whole(from + 1)}–${whole(from + length)} of ${whole(found.total)}` : ''
    )
  }

  root.append(
    el('div', { class: 'title' }, el('h1', {}, 'Connections')),
    el(
      'section',
      { class: 'card flush' },
      el(
        'div',
        { class: 'card-tools' },
        el(
          'div',
          { class: 'toolbar' },
          el('div', { class: 'chips', role: 'group', 'aria-label': 'Only connections of' }, chips)
        ),
        pages.node
      ),
      list.node
    )
  )
  scope.every(2000, () => load(false))
}
