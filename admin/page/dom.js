// SPDX-License-Identifier: MIT
// Builds elements from data. Data from the broker is untrusted, above all names and bodies of jobs:
// it becomes text or a harmless attribute, never markup.

const SVG = 'http://www.w3.org/2000/svg'

function apply(node, props) {
  for (const [key, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue
    if (key === 'text') node.textContent = value
    else if (key === 'on')
      for (const [type, act] of Object.entries(value)) node.addEventListener(type, act)
    else node.setAttribute(key, value === true ? '' : value)
  }
  return node
}

function fill(node, children) {
  for (const child of children.flat()) {
    if (child !== undefined && child !== null && child !== false) node.append(child)
  }
  return node
}

// An element with attributes; `text` is its content and `on` its event listeners.
export function el(tag, props = {}, ...children) {
  return fill(apply(document.createElement(tag), props), children)
}

export function svg(tag, props = {}, ...children) {
  return fill(apply(document.createElementNS(SVG, tag), props), children)
}

// Writes only changes, so that unchanged data does not cause a repaint.
export function setText(node, text) {
  const value = String(text)
  if (node.textContent !== value) node.textContent = value
}

export function setAttribute(node, name, value) {
  if (value === null || value === undefined || value === false) node.removeAttribute(name)
  else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value)
}

export function setClass(node, name, on) {
  if (node.classList.contains(name) !== Boolean(on)) node.classList.toggle(name, Boolean(on))
}

// Shapes in addition to colours, for users who cannot tell the colours apart.
const SHAPES = {
  ready: 'M6 1.5a4.5 4.5 0 1 1 0 9a4.5 4.5 0 1 1 0-9z',
  delayed: 'M6 1.5a4.5 4.5 0 1 1 0 9a4.5 4.5 0 1 1 0-9zM6 3v3l2 1.5',
  reserved: 'M2.5 1.5 10.5 6l-8 4.5z',
  buried: 'M2 2h8v8H2z',
  good: 'M2 6.5 4.8 9.3 10 3',
  warn: 'M6 1.2 11.2 10.5H.8zM6 4.5v2.8M6 8.900v.1',
  bad: 'M3.7 1h4.600L11 3.700v4.600L8.3 11H3.700L1 8.300V3.700zM6 3.5v3M6 8.300v.1',
  info: 'M6 1.5a4.5 4.5 0 1 1 0 9a4.5 4.5 0 1 1 0-9zM6 5.5v3M6 3.5v.1',
  paused: 'M4 2v8M8 2v8'
}

export function shape(name) {
  return svg(
    'svg',
    { viewBox: '0 0 12 12', class: `shape shape-${name}`, 'aria-hidden': 'true' },
    svg('path', { d: SHAPES[name] ?? SHAPES.info })
  )
}

export function badge(kind, label) {
  return el('span', { class: `badge badge-${kind}` }, shape(kind), label)
}

export function button(label, act, props = {}) {
  return el('button', { type: 'button', class: 'button', ...props, on: { click: act } }, label)
}

export function link(href, label, props = {}) {
  return el('a', { href, ...props }, label)
}

// A titled part of a view, with `beside` to the right of its title.
export function card(title, { beside, class: more = '', level = 2, id } = {}, ...children) {
  return el(
    'section',
    { class: `card ${more}`, id },
    el('div', { class: 'card-head' }, el(`h${level}`, { text: title }), beside),
    ...children
  )
}

// Names and values, which update() changes in place: [[key, name, hint]].
export function facts(list, more = '') {
  const cells = new Map()
  const node = el('dl', { class: `facts ${more}` })
  for (const [key, name, hint] of list) {
    const value = el('dd', {}, '–')
    cells.set(key, value)
    node.append(el('div', { class: 'fact' }, el('dt', { title: hint }, name), value))
  }
  const update = values => {
    for (const [key, value] of Object.entries(values)) {
      const cell = cells.get(key)
      if (value instanceof Node) {
        // An unchanged element keeps the focus.
        if (!cell.firstChild?.isEqualNode(value)) cell.replaceChildren(value)
      } else setText(cell, value)
    }
  }
  return { node, update }
}
