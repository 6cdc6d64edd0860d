// SPDX-License-Identifier: MIT
// The page: selects the view and its frame.

import './token.js'
import * as live from './live.js'
import { el, link, setAttribute } from './dom.js'
import { watch } from './history.js'
import { startKeys } from './keys.js'
import { Scope } from './scope.js'
import { known } from './session.js'
import { startTop } from './top.js'
import { configuration } from './view_config.js'
import { connection } from './view_connection.js'
import { connections } from './view_connections.js'
import { job } from './view_job.js'
import { journal } from './view_journal.js'
import { operations } from './view_operations.js'
import { overview } from './view_overview.js'
import { queue } from './view_queue.js'
import { queues } from './view_queues.js'

// Address -> the view, its name in the navigation, and its title.
const ROUTES = [
  [/^$/, overview, 'overview', () => 'Overview'],
  [/^queues$/, queues, 'queues', () => 'Queues'],
  [/^queues\/([^/]+)$/, queue, 'queues', path => `Queue ${readable(path)}`],
  [/^jobs\/(\d+)$/, job, 'queues', id => `Job ${id}`],
  [/^connections$/, connections, 'connections', () => 'Connections'],
  [/^connections\/(\d+)$/, connection, 'connections', id => `Connection ${id}`],
  [/^operations$/, operations, 'operations', () => 'Operations'],
  [/^journal$/, journal, 'journal', () => 'Journal'],
  [/^configuration$/, configuration, 'configuration', () => 'Configuration']
]

// The API writes the names `.` and `..` with a leading NUL, so that they are not path steps.
function readable(path) {
  try {
    return decodeURIComponent(path.replace(/^%00/, ''))
  } catch {
    return path
  }
}

const main = document.getElementById('main')
let scope = null
let shown = null

function notFound(title, text) {
  main.replaceChildren(
    el(
      'div',
      { class: 'void' },
      el('h1', { text: title }),
      el('p', { text }),
      link('#/', 'To the overview', { class: 'button' })
    )
  )
}

function mark(view) {
  for (const item of document.querySelectorAll('#nav a')) {
    setAttribute(item, 'aria-current', item.dataset.view === view ? 'page' : null)
    if (item.dataset.view === view) item.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }
}

// Shows the view of the address. A view is a function of its scope, its element, the query of the
// address and the variable parts of its path.
function show() {
  const [path, search = ''] = location.hash.replace(/^#\/?/, '').split('?')
  if (path === shown) return
  shown = path
  scope?.leave()
  // A dialog belongs to the view that opened it, except the token dialog.
  for (const open of document.querySelectorAll('dialog[open]:not(#token-dialog)')) open.close()
  scope = new Scope()
  const route = ROUTES.find(([form]) => form.test(path))
  if (!route) {
    mark(null)
    notFound('No such page', 'This address does not exist.')
    return
  }
  const [form, view, name, title] = route
  const parts = form.exec(path).slice(1)
  document.title = `${title(...parts)} · Tandem`
  mark(name)
  const root = el('div', { class: `view view-${name}` })
  main.replaceChildren(root)
  scope.failed = error =>
    notFound(error.status === 404 ? 'Not found' : 'The request failed', error.message)
  live.want({})
  watch([])
  view(scope, root, new URLSearchParams(search), ...parts)
  scrollTo(0, 0)
}

// Screen readers start reading a new view at its heading.
function turn() {
  const before = shown
  show()
  if (before !== shown && !main.contains(document.activeElement))
    main.focus({ preventScroll: true })
}

startTop()
startKeys()
live.run()
main.append(el('div', { class: 'void' }, el('p', { text: 'Loading …' })))
known().then(() => {
  addEventListener('hashchange', turn)
  show()
})
