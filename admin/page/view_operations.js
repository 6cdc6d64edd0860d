// SPDX-License-Identifier: MIT
// The running background operations, and the last ended ones.

import { call, get } from './api.js'
import { badge, button, el, setAttribute, setText } from './dom.js'
import { attempt } from './dialog.js'
import { moment, seconds, whole } from './format.js'
import { operateForm, skippedText } from './operate.js'
import { ACTIONS } from './operate_fields.js'
import { meter } from './parts.js'
import { may } from './session.js'
import { table } from './table.js'

const MARKS = { running: 'reserved', done: 'good', cancelled: 'buried', failed: 'bad' }
const bars = new WeakMap()

function drawProgress(cell, row) {
  if (!bars.has(cell)) {
    bars.set(cell, meter('Progress'))
    cell.append(bars.get(cell).node)
  }
  bars
    .get(cell)
    .draw(row.state === 'done' ? 1 : row.looked_at, row.state === 'done' ? 1 : row.total)
}

function drawState(cell, { state, error }) {
  if (cell.dataset.state === state) return
  cell.dataset.state = state
  setAttribute(cell, 'title', error)
  cell.replaceChildren(badge(MARKS[state], error ? `${state}: ${error}` : state))
}

function drawStop(cell, { id, state }) {
  const there = cell.firstElementChild
  if (state !== 'running') return there?.remove()
  if (there?.dataset.id === String(id)) return undefined
  return cell.replaceChildren(
    button(
      'Stop',
      () => attempt(() => call('DELETE', `operations/${id}`), `Operation ${id} was stopped`),
      { class: 'button small', 'data-id': id }
    )
  )
}

function target({ target: name, to, dry_run: dry, action }) {
  return `${dry ? 'count: ' : ''}${action} ${name}${to ? ` → ${to}` : ''}`
}

const COLUMNS = [
  { title: 'No.', text: ({ id }) => whole(id) },
  { title: 'What', wide: true, text: target },
  { title: 'State', draw: drawState },
  { title: 'Progress', draw: drawProgress },
  { title: 'Looked at', number: true, text: ({ looked_at: looked }) => whole(looked) },
  { title: 'Changed', number: true, text: ({ touched }) => whole(touched) },
  { title: 'Skipped', text: ({ skipped }) => skippedText(skipped) },
  { title: 'Began', text: ({ started_at: at }) => moment(at) },
  {
    title: 'Took',
    number: true,
    draw: (cell, { started_at: from, finished_at: to }) =>
      setText(cell, to === null ? '–' : seconds(to - from))
  },
  { title: 'Stop', unseen: true, draw: drawStop }
]

export function operations(scope, root) {
  let known = []
  const list = table({
    label: 'Operations',
    columns: COLUMNS,
    key: ({ id }) => id,
    skeleton: 4,
    empty:
      'No operation is running or has ended recently. Operations begin here or at a queue: ' +
      'kick, move or delete many jobs at once, pause or resume many queues.'
  })
  const load = scope.every(2000, async () => {
    known = (await get('operations', scope.signal)).operations
    list.rows(known)
  })
  scope.live('operation', operation => {
    const at = known.findIndex(({ id }) => id === operation.id)
    if (at < 0) known = [operation, ...known]
    else known[at] = operation
    list.rows(known)
  })
  const begin = Object.entries(ACTIONS).map(([action, { verb, danger }]) =>
    button(`${verb} …`, () => operateForm(action).then(load), {
      class: danger && action === 'delete' ? 'button danger-quiet' : 'button'
    })
  )
  root.append(
    el(
      'div',
      { class: 'title' },
      el('h1', {}, 'Operations'),
      may('operate') && el('div', { class: 'actions' }, begin)
    ),
    el('section', { class: 'card flush' }, list.node)
  )
}
