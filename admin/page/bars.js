// SPDX-License-Identifier: MIT
// A histogram of durations, with percentiles.

import { el, setAttribute, setText, svg } from './dom.js'
import { NONE, seconds, whole } from './format.js'

const HEIGHT = 150
const TOP = 8
const BOTTOM = 22
const MARKS = [
  ['p50', 0.5],
  ['p95', 0.95],
  ['p99', 0.99]
]

// The widest bucket. It gives the lower bound of a bucket whose predecessor was left out.
const WIDEST = 1.5

// Buckets with both bounds; empty ones are left out.
export function spread(histogram) {
  const list = []
  let before = 0
  for (const { le_seconds: le, count } of histogram?.buckets ?? []) {
    const to = le ?? before * WIDEST
    if (count) list.push({ from: Math.max(before, to / WIDEST), to, count, last: le === null })
    before = to
  }
  return list
}

// The percentile for this share, interpolated within its bucket; null without data.
export function percentile(buckets, share) {
  const all = buckets.reduce((sum, { count }) => sum + count, 0)
  if (!all) return null
  let left = share * all
  for (const { from, to, count, last } of buckets) {
    if (left <= count) return last ? from : from + ((to - from) * left) / count
    left -= count
  }
  return buckets.at(-1).to
}

// Minimum range of the axis, in doublings.
const RANGE = 8

// Both ends of the axis, as powers of two.
function rangeOf(buckets) {
  const low = Math.log2(buckets[0].from)
  const high = Math.log2(buckets.at(-1).to)
  const room = Math.max(0.25, (RANGE - (high - low)) / 2)
  return [low - room, high + room]
}

function mark(value) {
  const [unit, size] = value < 0.001 ? ['µs', 1e-6] : value < 1 ? ['ms', 0.001] : ['s', 1]
  return `${Math.round(value / size)} ${unit}`
}

class Bars {
  constructor(label) {
    this.label = label
    this.values = MARKS.map(() => el('dd', {}, NONE))
    this.rest = [el('dd', {}, NONE), el('dd', {}, NONE)]
    this.area = svg('svg', { class: 'bars', height: HEIGHT, role: 'img', 'aria-label': label })
    const names = [...MARKS.map(([name]) => name), 'mean', 'count']
    this.node = el(
      'div',
      { class: 'bars-box' },
      el(
        'dl',
        { class: 'percentiles' },
        names.map((name, i) =>
          el(
            'div',
            {},
            el(
              'dt',
              {},
              i < MARKS.length &&
                svg(
                  'svg',
                  { class: 'key-mark', viewBox: '0 0 4 12', 'aria-hidden': 'true' },
                  svg('line', {
                    class: `mark-line mark-line-${i + 1}`,
                    x1: 2,
                    x2: 2,
                    y1: 0,
                    y2: 12
                  })
                ),
              name
            ),
            [...this.values, ...this.rest][i]
          )
        )
      ),
      this.area
    )
    this.width = 0
    new ResizeObserver(([{ contentRect }]) => {
      this.width = Math.round(contentRect.width)
      this.draw(this.histogram)
    }).observe(this.area)
  }

  draw(histogram) {
    this.histogram = histogram
    const buckets = spread(histogram)
    const found = MARKS.map(([, share]) => percentile(buckets, share))
    found.forEach((value, i) => setText(this.values[i], seconds(value)))
    const { count = 0, sum_seconds: sum = 0 } = histogram ?? {}
    setText(this.rest[0], count ? seconds(sum / count) : NONE)
    setText(this.rest[1], whole(count))
    setAttribute(
      this.area,
      'aria-label',
      count
        ? `${this.label}: half within ${seconds(found[0])}, ` +
            `95 % within ${seconds(found[1])}, 99 % within ${seconds(found[2])}`
        : `${this.label}: no data yet`
    )
    if (!this.width) return
    setAttribute(this.area, 'viewBox', `0 0 ${this.width} ${HEIGHT}`)
    this.area.replaceChildren(...(buckets.length ? this.shapes(buckets, found) : this.nothing()))
  }

  nothing() {
    const base = HEIGHT - BOTTOM
    return [
      svg('line', { class: 'base', x1: 0, x2: this.width, y1: base, y2: base }),
      svg('text', { x: this.width / 2, y: base / 2 + 10, 'text-anchor': 'middle' }, 'No data yet')
    ]
  }

  shapes(buckets, found) {
    const [low, high] = rangeOf(buckets)
    const x = value => ((Math.log2(value) - low) / (high - low)) * this.width
    const most = Math.max(...buckets.map(({ count }) => count))
    const base = HEIGHT - BOTTOM
    const nodes = buckets.map(({ from, to, count, last }) => {
      const tall = Math.max(2, (count / most) * (base - TOP))
      const range = last ? `more than ${seconds(from)}` : `${seconds(from)} to ${seconds(to)}`
      return svg(
        'rect',
        {
          class: 'bar',
          x: x(from) + 0.5,
          width: Math.max(1, x(to) - x(from) - 1),
          y: base - tall,
          height: tall,
          rx: 1.5
        },
        svg('title', {}, `${range}: ${whole(count)}`)
      )
    })
    nodes.push(svg('line', { class: 'base', x1: 0, x2: this.width, y1: base, y2: base }))
    found.forEach((value, i) =>
      nodes.push(
        svg('line', {
          class: `mark-line mark-line-${i + 1}`,
          x1: x(value),
          x2: x(value),
          y1: TOP - 4,
          y2: base
        })
      )
    )
    return [...nodes, ...this.scale(x, low, high)]
  }

  // Labels at powers of ten, and at three times these if there is room.
  scale(x, low, high) {
    const texts = []
    const wide = this.width / ((high - low) * Math.log10(2)) > 150
    for (let power = -7; power < 8; power++) {
      for (const times of wide ? [1, 3] : [1]) {
        const value = times * 10 ** power
        const at = x(value)
        if (at > 16 && at < this.width - 16) {
          texts.push(svg('text', { x: at, y: HEIGHT - 6, 'text-anchor': 'middle' }, mark(value)))
        }
      }
    }
    return texts
  }
}

export const bars = label => new Bars(label)
