// SPDX-License-Identifier: MIT
// Formats numbers for display.

const WHOLE = new Intl.NumberFormat('en')
const SHORT = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })
const MOMENT = new Intl.DateTimeFormat('en-GB', {
  year: 'numeric',
  month: 'short',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit'
})
const CLOCK = new Intl.DateTimeFormat('en-GB', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit'
})

export const NONE = '–'

export const whole = number => WHOLE.format(number)

// For narrow places: 12,345,678 as 12.3M.
export const short = number => (number < 1e6 ? WHOLE.format(number) : SHORT.format(number))

export function rate(number) {
  if (number === null || number === undefined || Number.isNaN(number)) return NONE
  if (number === 0) return '0'
  if (number < 0.1) return '<0.1'
  if (number < 10) return number.toFixed(1)
  return short(Math.round(number))
}

export function percent(part, of) {
  if (!of) return NONE
  const share = (100 * part) / of
  return share > 0 && share < 1 ? '<1 %' : `${Math.round(share)} %`
}

export function bytes(number) {
  if (number === null || number === undefined) return NONE
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  let unit = 0
  while (number >= 1024 && unit < units.length - 1) {
    number /= 1024
    unit++
  }
  const digits = unit === 0 || number >= 100 ? 0 : 1
  return `${number.toFixed(digits)} ${units[unit]}`
}

// Durations such as 350 µs, 4.2 s, 3 m 20 s, 2 h 5 m, 3 d 4 h.
export function seconds(number) {
  if (number === null || number === undefined) return NONE
  if (number <= 0) return '0 s'
  if (number < 0.001) return `${Math.max(1, Math.round(number * 1e6))} µs`
  if (number < 1)
    return `${number < 0.01 ? (number * 1000).toFixed(1) : Math.round(number * 1000)} ms`
  if (number < 10) return `${number.toFixed(1)} s`
  if (number < 60) return `${Math.floor(number)} s`
  const pairs = [
    [86400, 'd', 3600, 'h'],
    [3600, 'h', 60, 'm'],
    [60, 'm', 1, 's']
  ]
  const [large, one, small, other] = pairs.find(([size]) => number >= size)
  const rest = Math.floor((number % large) / small)
  return `${Math.floor(number / large)} ${one}${rest ? ` ${rest} ${other}` : ''}`
}

export const moment = at => (at ? MOMENT.format(at * 1000) : NONE)
export const clock = at => CLOCK.format(at * 1000)

export const count = (number, one, many = `${one}s`) =>
  `${whole(number)} ${number === 1 ? one : many}`

// Gearman's names of priorities; beanstalk calls those below 1024 urgent.
export function band(priority) {
  if (priority < 1024) return 'high'
  return priority < 2 ** 31 ? 'normal' : 'low'
}
