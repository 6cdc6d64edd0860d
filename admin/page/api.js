// SPDX-License-Identifier: MIT
// Requests to the broker that served this page, and the token that they are made with.

const ROOT = 'api/v1'
const KEY = 'tandem-token'

// Why the broker, or the way to it, refused. `status` is 0 where there was no answer.
export class Refusal extends Error {
  constructor(status, message) {
    super(message)
    this.status = status
  }
}

// Kept as long as the tab: a token is not for whoever opens the browser next.
export const token = {
  get: () => sessionStorage.getItem(KEY),
  set: value => sessionStorage.setItem(KEY, value),
  forget: () => sessionStorage.removeItem(KEY)
}

// Resolves when there is a token to try; set by whoever can ask a person for one.
let ask = () => Promise.reject(new Refusal(401, 'A token is needed'))
export const askBy = asks => {
  ask = asks
}

async function reason(response) {
  try {
    const { error } = await response.json()
    if (error) return error
  } catch {
    // Not from the API, then: a proxy, or a broker that is being started.
  }
  return `${response.status} ${response.statusText}`.trim()
}

function headers(method, body) {
  const set = {}
  if (token.get()) set.Authorization = `Bearer ${token.get()}`
  if (method !== 'GET') set['X-Tandem-Request'] = '1'
  if (body !== undefined) set['Content-Type'] = 'application/json'
  return set
}

// The response as it comes, once it is a good one. Where a token is needed, a person is asked for
// it, and the request is made again.
export async function request(method, path, { body, signal } = {}) {
  const used = token.get()
  let response
  try {
    response = await fetch(`${ROOT}/${path}`, {
      method,
      headers: headers(method, body),
      body: body === undefined ? undefined : JSON.stringify(body),
      cache: 'no-store',
      signal
    })
  } catch (error) {
    if (error.name === 'AbortError') throw error
    throw new Refusal(0, 'The broker does not answer')
  }
  if (response.status === 401) {
    const why = await reason(response)
    // Another request may have been given a new one in the meantime.
    if (token.get() === used) await ask(used ? why : '')
    return request(method, path, { body, signal })
  }
  if (!response.ok) throw new Refusal(response.status, await reason(response))
  return response
}

export async function call(method, path, body, signal) {
  const response = await request(method, path, { body, signal })
  return response.status === 204 ? null : response.json()
}

export const get = (path, signal) => call('GET', path, undefined, signal)

// `?a=1&b=2` of what is set, or nothing.
export function query(params) {
  const set = Object.entries(params).filter(
    ([, value]) => value !== undefined && value !== null && value !== ''
  )
  return set.length ? `?${new URLSearchParams(set)}` : ''
}

// Whether the broker serves clients: '' if so, else what it says of that; null: no answer.
export async function readiness() {
  try {
    const response = await fetch('readyz', { cache: 'no-store' })
    return response.ok ? '' : (await response.text()).trim() || 'not ready'
  } catch {
    return null
  }
}
