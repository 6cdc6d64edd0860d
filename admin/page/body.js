// SPDX-License-Identifier: MIT
// The body of a job as text, indented JSON, or hex. It may contain any bytes.

import { button, el, setText } from './dom.js'
import { bytes } from './format.js'
import { tabs } from './tabs.js'

const HEX_LINE = 16
const HEX_AT_ONCE = 4096
const TEXT_AT_ONCE = 64 * 1024

// The bytes of a body as the API writes it.
export function bytesOf({ encoding, data }) {
  if (encoding === 'text') return new TextEncoder().encode(data)
  return Uint8Array.from(atob(data), letter => letter.charCodeAt(0))
}

function textIn(content) {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content)
  } catch {
    return null
  }
}

const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{},:]|[^\s"[\]{},:]+/g
const OPENS = /[[{]/
const CLOSES = /[\]}]/
// Maximum indentation: deeper nesting would fill the page with blanks.
const DEEPEST = 40

// Indents JSON and changes nothing else: numbers keep their digits, and duplicate members stay.
export function indented(json) {
  const parts = []
  let depth = 0
  let before = ''
  const line = () => `\n${'  '.repeat(Math.min(depth, DEEPEST))}`
  for (const [token] of json.matchAll(TOKENS)) {
    const closes = CLOSES.test(token[0]) && token.length === 1
    if (closes) depth--
    if (OPENS.test(before) ? !closes : before === ',' || closes) parts.push(line())
    parts.push(token === ':' ? ': ' : token)
    if (OPENS.test(token[0])) depth++
    before = token.length === 1 ? token : ''
  }
  return parts.join('')
}

function jsonIn(text) {
  if (text === null || !/^\s*[[{"]/.test(text)) return null
  try {
    JSON.parse(text)
  } catch {
    return null
  }
  return indented(text)
}

function hexLine(content, at) {
  const part = content.subarray(at, at + HEX_LINE)
  const pairs = Array.from(part, byte => byte.toString(16).padStart(2, '0'))
  const left = pairs.slice(0, 8).join(' ')
  const right = pairs.slice(8).join(' ')
  const letters = Array.from(part, byte =>
    byte >= 32 && byte < 127 ? String.fromCharCode(byte) : '·'
  ).join('')
  return `${at.toString(16).padStart(8, '0')}  ${`${left}  ${right}`.padEnd(49)} ${letters}`
}

function hexOf(content, from) {
  const lines = []
  for (let at = from; at < Math.min(content.length, from + HEX_AT_ONCE); at += HEX_LINE)
    lines.push(hexLine(content, at))
  return lines.join('\n')
}

// Shows text in parts: a body may have megabytes, which make a page slow.
function inParts(total, step, part) {
  const shown = el('pre', { class: 'body', tabindex: 0, role: 'region', 'aria-label': 'Body' })
  let at = 0
  const more = button('Show more', () => add(), { class: 'button small' })
  const node = el('div', {}, shown, more)
  function add() {
    shown.append(`${at ? '\n' : ''}`.repeat(step === HEX_AT_ONCE ? 1 : 0), part(at))
    at += step
    more.hidden = at >= total
  }
  add()
  return node
}

function save(content, name) {
  const url = URL.createObjectURL(new Blob([content], { type: 'application/octet-stream' }))
  el('a', { href: url, download: name }).click()
  setTimeout(() => URL.revokeObjectURL(url), 1000)
}

// content: the loaded part of a body of `size` bytes; whole() loads all of it.
export function bodyView(content, size, name, whole) {
  const text = textIn(content)
  const json = jsonIn(text)
  const kinds = [
    ...(json === null ? [] : [{ key: 'json', title: 'JSON' }]),
    ...(text === null ? [] : [{ key: 'text', title: 'Text' }]),
    { key: 'hex', title: 'Hex' }
  ]
  const ways = {
    json: () => inParts(json.length, TEXT_AT_ONCE, at => json.slice(at, at + TEXT_AT_ONCE)),
    text: () => inParts(text.length, TEXT_AT_ONCE, at => text.slice(at, at + TEXT_AT_ONCE)),
    hex: () => inParts(content.length, HEX_AT_ONCE, at => hexOf(content, at))
  }
  const empty = () => el('p', { class: 'hint' }, 'The body is empty.')
  const show = key => area.panel.replaceChildren(size ? ways[key]() : empty())
  const area = tabs('Body as', kinds, kinds[0].key, show)
  show(kinds[0].key)
  const says = el('span', { class: 'hint' })
  setText(
    says,
    content.length < size
      ? `the first ${bytes(content.length)} of ${bytes(size)}`
      : `${bytes(size)}${text === null ? ', not text' : ''}`
  )
  return el(
    'div',
    {},
    el(
      'div',
      { class: 'card-tools' },
      el('h2', {}, 'Body'),
      area.node,
      el(
        'div',
        { class: 'pager' },
        says,
        content.length < size
          ? button('Load all', whole, { class: 'button small' })
          : button('Save', () => save(content, name), { class: 'button small' })
      )
    ),
    area.panel
  )
}
