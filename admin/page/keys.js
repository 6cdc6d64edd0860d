// SPDX-License-Identifier: MIT
// Keyboard shortcuts, and the dialog that lists them.

import { button, el } from './dom.js'
import { dialog } from './dialog.js'

const GO = {
  o: '#/',
  q: '#/queues',
  c: '#/connections',
  p: '#/operations',
  j: '#/journal',
  s: '#/configuration'
}

const HELP = [
  ['/', 'Search'],
  ['g o', 'Overview'],
  ['g q', 'Queues'],
  ['g c', 'Connections'],
  ['g p', 'Operations'],
  ['g j', 'Journal'],
  ['g s', 'Configuration'],
  ['↑ ↓ Home End', 'From row to row of a table'],
  ['← →', 'From tab to tab'],
  ['Enter', 'Open'],
  ['Esc', 'Close a dialog, leave the search'],
  ['t', 'Light or dark'],
  ['?', 'This list']
]

function help() {
  const shown = dialog(
    'Keyboard',
    {},
    el(
      'dl',
      { class: 'shortcuts' },
      HELP.map(([keys, what]) =>
        el(
          'div',
          {},
          el(
            'dt',
            {},
            keys.split(' ').map(key => el('kbd', { text: key }))
          ),
          el('dd', { text: what })
        )
      )
    )
  )
  const close = button('Close', () => shown.close(), { class: 'button primary' })
  shown.foot.append(close)
  close.focus()
}

let led = false

function lead(key) {
  led = false
  if (!GO[key]) return false
  location.hash = GO[key]
  return true
}

const KEYS = {
  '/': () => document.querySelector('main input[type=search]')?.focus(),
  '?': help,
  t: () => window.switchTheme(),
  g: () => {
    led = true
    setTimeout(() => {
      led = false
    }, 1500)
  }
}

function press(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]'))
    return
  const { target, key } = event
  if (target.matches('input, select, textarea')) {
    if (key === 'Escape' && target.type === 'search') target.blur()
    return
  }
  if (led && lead(key)) return event.preventDefault()
  if (KEYS[key]) {
    event.preventDefault()
    KEYS[key]()
  }
}

export function startKeys() {
  addEventListener('keydown', press)
  document.getElementById('keys').addEventListener('click', help)
}
