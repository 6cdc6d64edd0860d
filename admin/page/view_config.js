// SPDX-License-Identifier: MIT
// The configuration in effect, and the actions of an administrator on the process.

import { call, get } from './api.js'
import { badge, button, card, el, setText } from './dom.js'
import { attempt, toast } from './dialog.js'
import { sure } from './job_forms.js'
import { heading } from './parts.js'
import { may, session } from './session.js'

function setting({ key, value, default: usual, live, effect }) {
  const other = value !== usual
  return el(
    'div',
    {
      class: other ? 'setting other' : 'setting',
      'data-text': `${key} ${value} ${effect}`.toLowerCase()
    },
    el('dt', {}, el('code', { text: key })),
    el(
      'dd',
      {},
      el(
        'div',
        { class: 'setting-value' },
        el('code', { text: value === '' ? '(empty)' : value }),
        other && badge('info', 'changed'),
        live && el('span', { class: 'hint' }, 'SIGHUP changes it')
      ),
      el('p', { text: effect }),
      other &&
        el('p', {
          class: 'hint',
          text: `Default: ${usual === '' ? '(empty)' : usual}`
        })
    )
  )
}

function sections(settings) {
  const found = new Map()
  for (const one of settings) {
    if (!found.has(one.section)) found.set(one.section, [])
    found.get(one.section).push(one)
  }
  return [...found].map(([name, list]) =>
    card(`[${name}]`, { class: 'settings' }, el('dl', {}, list.map(setting)))
  )
}

// A named section with the keys that are not at their default.
function named({ kind, name, origin, settings }) {
  const said = Object.entries(settings).map(([key, value]) =>
    el(
      'div',
      { class: 'setting other', 'data-text': `${kind} ${name} ${key} ${value}`.toLowerCase() },
      el('dt', {}, el('code', { text: key })),
      el('dd', {}, el('code', { text: String(value) }))
    )
  )
  return card(
    `[${kind} ${name}]`,
    { class: 'settings' },
    el('p', { class: 'hint', text: origin }),
    el('dl', {}, said)
  )
}

async function reload(again) {
  const answer = await attempt(() => call('POST', 'reload'))
  if (!answer) return
  if (answer.reloaded) toast('good', 'The configuration was read again')
  else toast('bad', 'The configuration has an error, see the log. Nothing was changed.')
  again()
}

async function drain() {
  const { draining } = session.process
  if (
    !draining &&
    !(await sure(
      'Drain',
      'The broker refuses new jobs, and still hands out jobs in the queues, until draining is ended.',
      'Drain the broker'
    ))
  )
    return
  await attempt(
    () => call('POST', 'drain', { draining: !draining }),
    draining ? 'The broker accepts new jobs' : 'The broker drains'
  )
}

export function configuration(scope, root) {
  const places = el('div', { class: 'settings-list' })
  const file = el('p', { class: 'hint' }, ' ')
  const search = el('input', {
    type: 'search',
    placeholder: 'Search settings  ( / )',
    'aria-label': 'Search settings',
    autocomplete: 'off'
  })
  const only = button(
    'Changed only',
    () => {
      only.setAttribute('aria-pressed', String(only.getAttribute('aria-pressed') !== 'true'))
      narrow()
    },
    { class: 'chip', 'aria-pressed': 'false' }
  )
  const draining = button('Drain …', drain, { class: 'button danger-quiet' })
  const actions =
    may('admin') &&
    el(
      'div',
      { class: 'actions' },
      button('Reload', () => reload(load)),
      draining
    )

  function narrow() {
    const word = search.value.trim().toLowerCase()
    const changed = only.getAttribute('aria-pressed') === 'true'
    for (const one of places.querySelectorAll('.setting')) {
      one.hidden = !one.dataset.text.includes(word) || (changed && !one.classList.contains('other'))
    }
    for (const section of places.querySelectorAll('.card'))
      section.hidden = !section.querySelector('.setting:not([hidden])')
  }

  // Built only when there is data, so that the layout does not move.
  function build() {
    root.append(
      heading('Configuration', { actions: actions || null }),
      file,
      el('div', { class: 'toolbar' }, search, el('div', { class: 'chips' }, only)),
      places
    )
  }

  async function load() {
    const found = await get('config', scope.signal)
    if (!root.firstChild) build()
    setText(
      file,
      found.file
        ? `Read from ${found.file}`
        : 'No file: these are defaults and values from the command line'
    )
    places.replaceChildren(...sections(found.settings), ...found.sections.map(named))
    narrow()
  }

  search.addEventListener('input', narrow)
  const label = () => (session.process.draining ? 'Accept new jobs' : 'Drain …')
  const drawDrain = () => setText(draining, label())
  scope.live('process', drawDrain)
  drawDrain()
  load().catch(scope.fail)
}
