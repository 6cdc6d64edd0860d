// SPDX-License-Identifier: MIT
// A table of a page of rows. Rows are reused, and only changed cells are written.
// While the pointer or the focus is in the table, rows keep their order, so that the target of a
// click does not move away.

import { button, el, setAttribute, setClass, setText } from './dom.js'

// columns: [{key, title, hint, number, sort, wide, text(row) | draw(cell, row, now)}]
class Table {
  constructor({ label, columns, key, empty = 'Nothing here', sort, onSort, skeleton = 8 }) {
    Object.assign(this, { columns, key, empty, onSort, shown: [], lines: [] })
    this.heads = columns.map(column => this.head(column))
    this.body = el('tbody')
    const table = el(
      'table',
      {},
      el('caption', { class: 'unseen', text: label }),
      el('thead', {}, el('tr', {}, this.heads)),
      this.body
    )
    this.node = el(
      'div',
      { class: 'table-box', tabindex: 0, role: 'region', 'aria-label': label },
      table
    )
    this.node.addEventListener('keydown', event => this.move(event))
    this.sorted(sort)
    this.wait(skeleton)
  }

  head({ title, hint, number, sort, unseen }) {
    const content =
      sort && this.onSort
        ? el(
            'button',
            { type: 'button', class: 'sort', title: hint, on: { click: () => this.onSort(sort) } },
            title
          )
        : el('span', { title: hint, class: unseen && 'unseen' }, title)
    return el('th', { scope: 'col', class: number ? 'number' : null }, content)
  }

  // `sort` as in the API: a column, with a leading minus for the largest first.
  sorted(sort) {
    this.columns.forEach((column, i) => {
      if (!column.sort) return
      const way =
        sort === column.sort ? 'ascending' : sort === `-${column.sort}` ? 'descending' : null
      setAttribute(this.heads[i], 'aria-sort', way)
    })
  }

  wait(count) {
    this.shown = []
    this.lines = []
    this.body.replaceChildren(
      ...Array.from({ length: count }, () =>
        el(
          'tr',
          { class: 'waiting' },
          this.columns.map(() => el('td', {}, el('span', { class: 'bone' })))
        )
      )
    )
  }

  line() {
    const cells = this.columns.map(({ number, wide }) =>
      el('td', { class: [number && 'number', wide && 'wide'].filter(Boolean).join(' ') || null })
    )
    return { row: el('tr', {}, cells), cells }
  }

  get held() {
    return (
      this.shown.length > 0 &&
      (this.body.matches(':hover') || this.body.contains(document.activeElement))
    )
  }

  // Shows these rows. `forced`: the user has just requested them.
  rows(list, forced = false) {
    const order = !forced && this.held ? this.keepOrder(list) : list.map(row => [row, false])
    if (!order.length) return this.none()
    if (!this.lines.length) this.body.replaceChildren()
    while (this.lines.length > order.length) this.lines.pop().row.remove()
    while (this.lines.length < order.length) {
      const line = this.line()
      this.lines.push(line)
      this.body.append(line.row)
    }
    this.shown = order.map(([row]) => row)
    order.forEach(([row, gone], i) => this.write(this.lines[i], row, gone))
  }

  // Writes the shown rows again, for values that change with time.
  again() {
    this.shown.forEach((row, i) =>
      this.write(this.lines[i], row, this.lines[i].row.classList.contains('gone'))
    )
  }

  keepOrder(list) {
    const now = new Map(list.map(row => [this.key(row), row]))
    return this.shown.map(row => [now.get(this.key(row)) ?? row, !now.has(this.key(row))])
  }

  write({ row: node, cells }, row, gone) {
    setClass(node, 'gone', gone)
    this.columns.forEach(({ text, draw }, i) => {
      if (draw) draw(cells[i], row)
      else setText(cells[i], text(row))
    })
  }

  none() {
    this.shown = []
    this.lines = []
    const text = typeof this.empty === 'function' ? this.empty() : this.empty
    this.body.replaceChildren(
      el('tr', { class: 'nothing' }, el('td', { colspan: this.columns.length }, text))
    )
  }

  // Arrow keys go from row to row, by the first link of each.
  move(event) {
    const step = { ArrowDown: 1, ArrowUp: -1, Home: -Infinity, End: Infinity }[event.key]
    if (!step || event.target.closest('input, select, textarea')) return
    const links = this.lines.map(({ row }) => row.querySelector('a, button')).filter(Boolean)
    if (!links.length) return
    const at = links.findIndex(link => link.closest('tr').contains(document.activeElement))
    const next = at < 0 ? (step > 0 ? 0 : links.length - 1) : at + step
    links[Math.min(links.length - 1, Math.max(0, next))].focus()
    event.preventDefault()
  }
}

export const table = options => new Table(options)

// A link in a cell; the element is reused.
export function drawLink(cell, href, text) {
  let node = cell.firstElementChild
  if (!node) cell.append((node = el('a', {})))
  setAttribute(node, 'href', href)
  setText(node, text)
  setAttribute(node, 'title', text)
}

// Paging by cursor; the API returns only the next one. go(cursor) shows a page.
export function pager(go) {
  let past = []
  let next = null
  let at = null
  const says = el('span', { class: 'pager-text' })
  const step = cursor => {
    at = cursor
    go(at)
  }
  const back = button('Previous', () => step(past.pop()), { class: 'button small', disabled: true })
  const on = button(
    'Next',
    () => {
      past.push(at)
      step(next)
    },
    { class: 'button small', disabled: true }
  )
  const node = el('div', { class: 'pager' }, says, back, on)
  return {
    node,
    get cursor() {
      return at
    },
    get page() {
      return past.length
    },
    reset() {
      past = []
      at = null
    },
    update(cursor, text) {
      next = cursor
      setText(says, text)
      back.disabled = past.length === 0
      on.disabled = next === null
    }
  }
}
