// SPDX-License-Identifier: MIT
// Line charts of the last ten minutes, in SVG. Series differ in colour and in dashes.

import { el, setAttribute, setText, svg } from './dom.js'
import { SPAN } from './history.js'

const LEFT = 48
const RIGHT = 8
const TOP = 10
const BOTTOM = 22
// Round numbers, each with the number of equal parts that are round, too.
const STEPS = [
  [1, 5],
  [2, 4],
  [3, 3],
  [4, 4],
  [5, 5],
  [6, 3],
  [8, 4],
  [10, 5]
]
// The spans of a chart. It uses the shortest one that covers the data.
const SPANS = [60, 120, 300, SPAN]

function spanOf(points, now) {
  const age = now - (points[0]?.t ?? now)
  return SPANS.find(one => age <= one) ?? SPAN
}

// The smallest round number that is at least as large, and its parts.
export function roundUp(value) {
  const unit = 10 ** Math.floor(Math.log10(value))
  const [step, parts] = STEPS.find(([one]) => one * unit >= value * 0.999999)
  return [step * unit, parts]
}

// A path through [{t, v}], with gaps where v is null.
function pathOf(points, x, y) {
  let path = ''
  let pen = false
  for (const { t, v } of points) {
    if (v === null) pen = false
    else {
      path += `${pen ? 'L' : 'M'}${x(t).toFixed(1)} ${y(v).toFixed(1)}`
      pen = true
    }
  }
  return path
}

function nearest(points, time) {
  let best = null
  for (const point of points)
    if (!best || Math.abs(point.t - time) < Math.abs(best.t - time)) best = point
  return best && Math.abs(best.t - time) < 5 ? best.v : null
}

class LineChart {
  // series: [{name}]; format(value) -> text; least: minimum upper end of the axis.
  constructor({ label, series, format, least = 1, height = 220, whole = false }) {
    Object.assign(this, {
      label,
      series,
      format,
      least,
      height,
      whole,
      now: 0,
      data: series.map(() => [])
    })
    this.values = series.map(() => el('span', { class: 'legend-value' }, '–'))
    this.when = el('div', { class: 'legend-when' })
    this.span = SPANS[0]
    this.area = svg('svg', { class: 'chart', role: 'img', 'aria-label': label, height })
    this.grid = svg('g', { class: 'grid' })
    this.paths = series.map((_, i) => svg('path', { class: `line line-${i + 1}` }))
    this.cross = svg('line', { class: 'cross', y1: TOP, y2: height - BOTTOM, visibility: 'hidden' })
    this.area.append(this.grid, ...this.paths, this.cross)
    this.node = el(
      'div',
      { class: 'chart-box' },
      el(
        'div',
        { class: 'legend' },
        series.map(({ name }, i) =>
          el(
            'div',
            {},
            el(
              'span',
              { class: 'legend-item' },
              svg(
                'svg',
                { class: 'key', viewBox: '0 0 22 8', 'aria-hidden': 'true' },
                svg('path', { class: `line line-${i + 1}`, d: 'M1 4h20' })
              ),
              name
            ),
            this.values[i]
          )
        ),
        this.when
      ),
      this.area
    )
    this.width = 0
    new ResizeObserver(([{ contentRect }]) => this.resize(contentRect.width)).observe(this.area)
    this.area.addEventListener('pointermove', event => this.point(event.offsetX))
    this.area.addEventListener('pointerleave', () => this.point(null))
  }

  resize(width) {
    if (Math.round(width) === this.width || !width) return
    this.width = Math.round(width)
    setAttribute(this.area, 'viewBox', `0 0 ${this.width} ${this.height}`)
    this.max = undefined
    this.draw(this.now, this.data)
  }

  x = time => LEFT + ((time - this.now + this.span) / this.span) * (this.width - LEFT - RIGHT)
  y = value => this.height - BOTTOM - (value / this.max) * (this.height - TOP - BOTTOM)

  // `data`: for each series [{t, v}]; v is null if unknown.
  draw(now, data) {
    Object.assign(this, { now, data })
    if (!this.width) return
    const span = spanOf(data[0], now)
    const shown = data.map(points => points.filter(({ t }) => t >= now - span))
    const [max, parts] = roundUp(
      shown.flat().reduce((most, { v }) => (v > most ? v : most), this.least)
    )
    if (max !== this.max || span !== this.span) {
      Object.assign(this, { max, span })
      this.drawGrid(this.whole && max < 5 ? max : parts)
    }
    this.paths.forEach((path, i) => setAttribute(path, 'd', pathOf(shown[i], this.x, this.y)))
    this.tell()
  }

  drawGrid(parts) {
    const marks = []
    for (let i = 0; i <= parts; i++) {
      const value = (this.max * i) / parts
      const y = this.y(value)
      marks.push(
        svg('line', { x1: LEFT, x2: this.width - RIGHT, y1: y, y2: y }),
        svg('text', { x: LEFT - 8, y: y + 4, 'text-anchor': 'end' }, this.format(value))
      )
    }
    const y = this.height - 4
    const { span } = this
    const half = span < 120 ? `${span / 2} s` : `${span / 120} min`
    for (const [back, text, anchor] of [
      [span, `${span / 60} min ago`, 'start'],
      [span / 2, half, 'middle'],
      [0, 'now', 'end']
    ]) {
      const x = LEFT + (1 - back / span) * (this.width - LEFT - RIGHT)
      marks.push(svg('text', { x, y, 'text-anchor': anchor }, text))
    }
    this.grid.replaceChildren(...marks)
  }

  point(offset) {
    this.pointed =
      offset === null || offset < LEFT
        ? null
        : this.now - this.span + ((offset - LEFT) / (this.width - LEFT - RIGHT)) * this.span
    setAttribute(this.cross, 'visibility', this.pointed === null ? 'hidden' : 'visible')
    if (this.pointed !== null) {
      setAttribute(this.cross, 'x1', offset)
      setAttribute(this.cross, 'x2', offset)
    }
    this.tell()
  }

  tell() {
    const at = this.pointed ?? this.now
    const values = this.data.map(points => nearest(points, at))
    const texts = values.map(value => (value === null ? '–' : this.format(value)))
    texts.forEach((text, i) => setText(this.values[i], text))
    const back = Math.max(0, Math.round(this.now - at))
    setText(
      this.when,
      this.pointed ? `${Math.floor(back / 60)}:${String(back % 60).padStart(2, '0')} ago` : ''
    )
    const said = this.series.map(({ name }, i) => `${name} ${texts[i]}`).join(', ')
    setAttribute(
      this.area,
      'aria-label',
      `${this.label}, the last ten minutes; now: ${said}`
    )
  }
}

export const lineChart = options => new LineChart(options)

const SPARK = { width: 96, height: 24 }
const SPARK_POINTS = 48

// The maximum of each time slot, so that a narrow drawing still shows peaks.
function thin(points, now) {
  const slots = new Array(SPARK_POINTS).fill(null)
  const span = spanOf(points, now)
  for (const { t, v } of points) {
    const slot = Math.floor(((t - now + span) / span) * SPARK_POINTS)
    const at = Math.min(slot, SPARK_POINTS - 1)
    if (v !== null && slot >= 0) slots[at] = Math.max(v, slots[at] ?? 0)
  }
  return slots
}

// A line without numbers, for a row of a table.
export function sparkline() {
  const path = svg('path', { class: 'line line-1' })
  const node = svg(
    'svg',
    { class: 'spark', viewBox: `0 0 ${SPARK.width} ${SPARK.height}`, 'aria-hidden': 'true' },
    path
  )
  const draw = (points, now) => {
    const slots = thin(points, now)
    // A slot without data has the value of the one before.
    for (let i = 1; i < slots.length; i++) slots[i] ??= slots[i - 1]
    const top = Math.max(1, ...slots.filter(value => value !== null))
    const step = SPARK.width / (SPARK_POINTS - 1)
    const list = slots.map((v, i) => ({ t: i * step, v }))
    setAttribute(
      path,
      'd',
      pathOf(
        list,
        t => t,
        v => SPARK.height - 2 - (v / top) * (SPARK.height - 4)
      )
    )
  }
  return { node, draw }
}
