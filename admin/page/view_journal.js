// SPDX-License-Identifier: MIT
// The journal: its size, and the duration of syncs.

import { get } from './api.js'
import { LIMITS } from './attention.js'
import { bars } from './bars.js'
import { badge, card, el, facts } from './dom.js'
import { bytes, percent, rate, short, whole } from './format.js'
import { meter, tiles } from './parts.js'

const TILES = [
  { key: 'bytes', name: 'On disk' },
  { key: 'live', name: 'Of live jobs' },
  { key: 'segments', name: 'Segments' },
  { key: 'records', name: 'Records' },
  { key: 'batches', name: 'Batches' },
  { key: 'free', name: 'Free on the disk' }
]
const FACTS = [
  ['directory', 'Directory'],
  ['fsync', 'journal.fsync'],
  ['segment', 'Segment size'],
  ['range', 'Segments'],
  ['batch', 'Records per batch', 'Mean'],
  ['migrated', 'Written again', 'Records that were written again to free old segments'],
  ['errors', 'Errors', 'Writes and syncs that failed']
]

export function journal(scope, root) {
  const marks = el('span', { class: 'badges' })
  const top = tiles(TILES)
  const shown = facts(FACTS, 'columns')
  const share = meter('Live of all bytes')
  const sync = bars('A sync')
  let before = null
  root.append(
    el(
      'div',
      { class: 'title' },
      el('div', { class: 'title-row' }, el('h1', {}, 'Journal'), marks)
    ),
    top.node,
    card(
      'Syncs',
      {},
      el(
        'p',
        { class: 'hint' },
        'Duration of a sync of the disk. With journal.fsync = always, replies wait for it.'
      ),
      sync.node
    ),
    card(
      'On disk',
      {},
      el(
        'p',
        { class: 'hint' },
        'Bytes of live jobs among all bytes. The rest is freed segment by segment.'
      ),
      share.node,
      shown.node
    )
  )

  function perSecond(found, now, key) {
    if (!before || now <= before.now) return ''
    return `${rate(Math.max(0, found[key] - before.found[key]) / (now - before.now))} a second`
  }

  function draw(found) {
    const now = performance.now() / 1000
    const { free_bytes: free } = found
    marks.replaceChildren(
      !found.enabled
        ? badge('info', 'none: jobs are in memory only')
        : found.failing
          ? badge('bad', 'failing')
          : badge('good', 'ok')
    )
    top.draw({
      bytes: [bytes(found.bytes)],
      live: [bytes(found.live_bytes), percent(found.live_bytes, found.bytes)],
      segments: [whole(found.segments), `of ${bytes(found.segment_bytes)}`],
      records: [short(found.records), perSecond(found, now, 'records')],
      batches: [short(found.batches), perSecond(found, now, 'batches')],
      free: [bytes(free), free !== null && free < found.bytes * LIMITS.disk ? 'nearly full' : '']
    })
    shown.update({
      directory: found.directory || 'none',
      fsync: found.fsync || '–',
      segment: bytes(found.segment_bytes),
      range: found.segments ? `${whole(found.oldest)} to ${whole(found.current)}` : '–',
      batch: found.batches ? (found.records / found.batches).toFixed(1) : '–',
      migrated: whole(found.migrated),
      errors: whole(found.errors)
    })
    share.draw(found.live_bytes, found.bytes)
    sync.draw(found.syncs)
    before = { found, now }
  }

  scope.every(2000, async () => draw(await get('journal', scope.signal)))
}
