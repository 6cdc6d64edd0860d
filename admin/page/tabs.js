// SPDX-License-Identifier: MIT
// Tabs over one panel, by click and by arrow keys.

import { el, setAttribute, setText } from './dom.js'

let count = 0

// list: [{key, title, shape}]; go(key) when one is chosen. -> {node, panel, choose, note}
export function tabs(label, list, chosen, go) {
  const id = `tabs-${++count}`
  const notes = new Map()
  const panel = el('div', { role: 'tabpanel', id: `${id}-panel` })
  const buttons = list.map(({ key, title, mark }) => {
    const note = el('span', { class: 'tab-note' })
    notes.set(key, note)
    return el(
      'button',
      {
        type: 'button',
        role: 'tab',
        id: `${id}-${key}`,
        'aria-controls': `${id}-panel`,
        on: { click: () => choose(key) }
      },
      mark,
      title,
      note
    )
  })
  const node = el('div', { class: 'tabs', role: 'tablist', 'aria-label': label }, buttons)

  function mark(key) {
    list.forEach((tab, i) => {
      setAttribute(buttons[i], 'aria-selected', String(tab.key === key))
      setAttribute(buttons[i], 'tabindex', tab.key === key ? '0' : '-1')
    })
    panel.setAttribute('aria-labelledby', `${id}-${key}`)
    chosen = key
  }

  function choose(key) {
    mark(key)
    go(key)
  }

  node.addEventListener('keydown', event => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (!step) return
    const next = (list.findIndex(({ key }) => key === chosen) + step + list.length) % list.length
    choose(list[next].key)
    buttons[next].focus()
    event.preventDefault()
  })
  mark(chosen)
  return { node, panel, choose, note: (key, text) => setText(notes.get(key), text) }
}
