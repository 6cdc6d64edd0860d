// SPDX-License-Identifier: MIT
// The list of queues, with the columns of beanstalk consoles and gearman_top. The broker sorts,
// filters and pages, so that the page receives only the visible rows of 100,000 queues.

import { get, query } from './api.js'
import { sparkline } from './chart.js'
import { badge, button, el, setAttribute, setText } from './dom.js'
import { addJob } from './job_forms.js'
import { rate, seconds, short, whole } from './format.js'
import * as history from './history.js'
import * as live from './live.js'
import { may } from './session.js'
import { drawLink, pager, table } from './table.js'

const PAGE = 50
const FILTERS = [
  ['ready', 'Ready'],
  ['delayed', 'Delayed'],
  ['reserved', 'Reserved'],
  ['buried', 'Buried'],
  ['paused', 'Paused'],
  ['worked', 'With workers'],
  ['unworked', 'No workers']
]

const number = (key, title, hint, value, sort) => ({
  key,
  title,
  hint,
  sort,
  number: true,
  draw: (cell, row) => {
    const found = value(row)
    setText(cell, short(found))
    setAttribute(cell, 'class', found ? 'number' : 'number zero')
  }
})

function drawName(cell, row) {
  drawLink(cell, `#/queues/${row.path}`, row.name)
  const marked = cell.querySelector('.badge')
  if (row.paused && !marked) cell.append(badge('paused', 'paused'))
  if (!row.paused) marked?.remove()
}

const flow = (title, hint, key) => ({
  title,
  hint,
  number: true,
  draw: (cell, { path }) => {
    const found = history.queueSeries(path).rate(key)
    setText(cell, rate(found))
    setAttribute(cell, 'class', found ? 'number' : 'number zero')
  }
})

const sparks = new WeakMap()

function drawSpark(cell, { path }) {
  if (!sparks.has(cell)) {
    sparks.set(cell, sparkline())
    cell.append(sparks.get(cell).node)
  }
  sparks.get(cell).draw(history.queueSeries(path).values('ready'), history.now())
}

const COLUMNS = [
  { title: 'Queue', wide: true, sort: 'name', draw: drawName },
  number('ready', 'Ready', 'Jobs that a worker may take now', ({ jobs }) => jobs.ready, 'ready'),
  number('urgent', 'Urgent', 'Ready jobs of high priority, below 1024', ({ bands }) => bands.high),
  number(
    'delayed',
    'Delayed',
    'Jobs that become ready at a set time',
    ({ jobs }) => jobs.delayed,
    'delayed'
  ),
  number(
    'reserved',
    'Reserved',
    'Jobs that a worker holds',
    ({ jobs }) => jobs.reserved,
    'reserved'
  ),
  number('buried', 'Buried', 'Jobs set aside until they are kicked', ({ jobs }) => jobs.buried, 'buried'),
  number('workers', 'Workers', 'Sessions that take jobs from it', ({ workers }) => workers, 'workers'),
  number(
    'waiting',
    'Waiting',
    'Workers that currently wait for a job',
    ({ waiting }) => waiting,
    'waiting'
  ),
  {
    title: 'Oldest',
    hint: 'How long the oldest ready job has been ready',
    number: true,
    sort: 'oldest_ready_seconds',
    text: ({ oldest_ready_seconds: oldest }) => seconds(oldest)
  },
  flow('In/s', 'Jobs submitted a second', 'submitted'),
  flow('Done/s', 'Jobs done a second', 'completed'),
  { title: 'Trend', hint: 'Ready jobs, over the last ten minutes at most', draw: drawSpark }
]

// The search field and the filters; they call changed().
function toolbar(state, changed) {
  const search = el('input', {
    type: 'search',
    placeholder: 'Search queues  ( / )',
    'aria-label': 'Search queues',
    value: state.search,
    autocomplete: 'off',
    spellcheck: 'false'
  })
  let timer
  search.addEventListener('input', () => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      state.search = search.value.trim()
      changed()
    }, 200)
  })
  const chips = FILTERS.map(([key, title]) => {
    const chip = button(
      title,
      () => {
        if (!state.with.delete(key)) state.with.add(key)
        chip.setAttribute('aria-pressed', String(state.with.has(key)))
        changed()
      },
      { class: 'chip', 'aria-pressed': String(state.with.has(key)) }
    )
    return chip
  })
  return el(
    'div',
    { class: 'toolbar' },
    search,
    el('div', { class: 'chips', role: 'group', 'aria-label': 'Only queues with' }, chips)
  )
}

const paramsOf = ({ search, with: words, sort }) => ({ search, with: [...words].join(','), sort })

export function queues(scope, root, address) {
  const state = {
    search: address.get('search') ?? '',
    with: new Set(
      (address.get('with') ?? '').split(',').filter(word => FILTERS.some(([key]) => key === word))
    ),
    sort: address.get('sort') ?? 'name'
  }
  const list = table({
    label: 'Queues',
    columns: COLUMNS,
    key: ({ path }) => path,
    skeleton: 12,
    sort: state.sort,
    empty: () =>
      state.search || state.with.size
        ? 'No queue matches. Remove a filter, or shorten the search.'
        : 'There are no queues yet. The first job or worker of a queue creates it.',
    onSort: key => {
      // Numbers sort from the largest first; a second click reverses the order.
      const first = key === 'name' ? key : `-${key}`
      state.sort = state.sort !== first ? first : first === key ? `-${key}` : key
      list.sorted(state.sort)
      restart()
    }
  })
  const pages = pager(() => load(true))

  function show(found, forced) {
    list.rows(found.queues, forced)
    history.watch(found.queues.map(({ path }) => path))
    const from = pages.page * PAGE
    const to = from + found.queues.length
    const all = found.matched === found.total ? '' : ` (${whole(found.total)} in all)`
    pages.update(
      found.next,
      found.matched
        ? `${whole(from + 1)}–${whole(to)} of ${whole(found.matched)}${all}`
        : `0 of ${whole(found.total)}`
    )
  }

  async function load(forced) {
    const cursor = pages.cursor
    const asked = query(paramsOf(state))
    // The stream sends the first page; other pages are requested.
    live.want(cursor ? {} : { ...paramsOf(state), queues: PAGE })
    const found = await get(
      `queues${query({ ...paramsOf(state), limit: PAGE, cursor })}`,
      scope.signal
    )
    if (cursor !== pages.cursor || asked !== query(paramsOf(state))) return
    found.queues.forEach(queue => history.noteQueue(queue))
    show(found, forced)
  }

  function restart() {
    remember(state)
    pages.reset()
    load(true).catch(scope.fail)
  }

  root.append(
    el(
      'div',
      { class: 'title' },
      el('div', { class: 'title-row' }, el('h1', {}, 'Queues')),
      el(
        'div',
        { class: 'actions' },
        may('submit') && button('Add a job …', () => addJob(), { class: 'button primary' })
      )
    ),
    el(
      'section',
      { class: 'card flush' },
      el('div', { class: 'card-tools' }, toolbar(state, restart), pages.node),
      list.node
    )
  )
  scope.live('queues', found => {
    if (pages.cursor || live.link.state === 'connecting') return
    show(found, false)
  })
  // Rates and lines change with time, even without an event of queues.
  scope.live('process', () => {
    if (list.shown.length) list.again()
  })
  scope.every(3000, () => (pages.cursor || !list.shown.length ? load(false) : Promise.resolve()))
}

// Stores the list in the address, so that the back button returns to it.
function remember(state) {
  window.history.replaceState(null, '', `#/queues${query(paramsOf(state))}`)
}
