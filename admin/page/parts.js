// SPDX-License-Identifier: MIT
// Parts that several views use.

import { badge, el, setAttribute, setClass, setText, shape } from './dom.js'
import { percent } from './format.js'

// Large numbers: [{key, name, mark, href}] -> {node, draw({key: [number, note]})}
export function tiles(list) {
  const shown = new Map()
  const node = el(
    'div',
    { class: 'tiles' },
    list.map(({ key, name, mark, href }) => {
      const number = el('span', { class: 'tile-number' }, '–')
      const note = el('span', { class: 'tile-note' })
      shown.set(key, [number, note])
      const inside = [el('span', { class: 'tile-name' }, mark && shape(mark), name), number, note]
      return el(href ? 'a' : 'div', { class: 'tile', href }, inside)
    })
  )
  const draw = values => {
    for (const [key, [number, note = '']] of Object.entries(values)) {
      setText(shown.get(key)[0], number)
      setText(shown.get(key)[1], note)
    }
  }
  return { node, draw }
}

// A bar for the used part of a whole. Above the share `near` it warns.
export function meter(label) {
  const fill = el('div', { class: 'meter-fill' })
  const node = el(
    'div',
    {
      class: 'meter',
      role: 'meter',
      'aria-label': label,
      'aria-valuemin': 0,
      'aria-valuemax': 100,
      'aria-valuenow': 0
    },
    fill
  )
  const draw = (part, of, near) => {
    const share = of ? Math.min(1, part / of) : 0
    fill.style.width = `${(100 * share).toFixed(1)}%`
    setAttribute(node, 'aria-valuenow', Math.round(100 * share))
    setAttribute(node, 'aria-valuetext', of ? percent(part, of) : 'no limit')
    setClass(node, 'near', near && share > near)
  }
  return { node, draw }
}

export const STATES = ['ready', 'delayed', 'reserved', 'buried']

export const stateBadge = state => badge(state, state)

// Writes a state to a cell, once.
export function drawState(cell, state) {
  if (cell.dataset.state === state) return
  cell.dataset.state = state
  cell.replaceChildren(stateBadge(state))
}

// The heading of a view, with its location and its actions.
export function heading(title, { up, badges, actions } = {}) {
  return el(
    'div',
    { class: 'title' },
    up && el('nav', { class: 'crumbs', 'aria-label': 'Location' }, up),
    el('div', { class: 'title-row' }, el('h1', {}, title), badges),
    actions
  )
}

// Rare actions behind one button.
export function menu(label, items) {
  const node = el(
    'details',
    { class: 'menu' },
    el('summary', { class: 'button' }, label),
    el('div', { class: 'menu-items' }, items)
  )
  node.addEventListener('click', event => {
    if (event.target.closest('.item')) node.open = false
  })
  node.addEventListener('focusout', event => {
    if (!node.contains(event.relatedTarget)) node.open = false
  })
  node.addEventListener('keydown', event => {
    if (event.key !== 'Escape') return
    node.open = false
    node.firstChild.focus()
  })
  return node
}
