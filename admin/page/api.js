// SPDX-License-Identifier: MIT
// Requests to the broker that served this page, and the token for them.

const ROOT = 'api/v1'
const KEY = 'tandem-token'

// The reason why a request failed. `status` is 0 if there was no response.
export class Refusal extends Error {
  constructor(status, message) {
    super(message)
    this.status = status
  }
}

// Kept only as long as the tab, so that the next user of the browser does not get the token.
export const token = {
  get: () => sessionStorage.getItem(KEY),
  set: value => sessionStorage.setItem(KEY, value),
  forget: () => sessionStorage.removeItem(KEY)
}

// Resolves when there is a token to try. token.js sets it to a dialog.
let ask = () => Promise.reject(new Refusal(401, 'A token is required'))
export const askBy = asks => {
  ask = asks
}

async function reason(response) {
  try {
    const { error } = await response.json()
    if (error) return error
  } catch {
    // The response is not from the API: a proxy, or a broker that is starting.
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

// The response, if it is a success. If the broker requires a token, the user is asked for
// one and the request is sent again.
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
    // Another request may have got a new token in the meantime.
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

// `?a=1&b=2` with the parameters that are set, or ''.
export function query(params) {
  const set = Object.entries(params).filter(
    ([, value]) => value !== undefined && value !== null && value !== ''
  )
  return set.length ? `?${new URLSearchParams(set)}` : ''
}

// Whether the broker serves clients: '' if it does, otherwise its reason; null: no response.
export async function readiness() {
  try {
    const response = await fetch('readyz', { cache: 'no-store' })
    return response.ok ? '' : (await response.text()).trim() || 'not ready'
  } catch {
    return null
  }
}
