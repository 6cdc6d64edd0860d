// SPDX-License-Identifier: MIT
// Dialogs, and short notices at the bottom of the page.

import { button, el, shape } from './dom.js'

let count = 0

// Shows `content` under a title until close() is called or Escape is pressed.
// -> {node, body, foot, close, closed}; `closed` resolves to the argument of close().
export function dialog(title, { wide = false } = {}, ...content) {
  const id = `dialog-${++count}`
  const body = el('div', { class: 'dialog-body' }, ...content)
  const foot = el('div', { class: 'dialog-foot' })
  const node = el(
    'dialog',
    { class: wide ? 'dialog wide' : 'dialog', 'aria-labelledby': id },
    el('h2', { id, text: title }),
    body,
    foot
  )
  let answer
  const closed = new Promise(resolve => {
    node.addEventListener('close', () => {
      node.remove()
      resolve(answer)
    })
  })
  const close = value => {
    answer = value
    node.close()
  }
  document.body.append(node)
  node.showModal()
  return { node, body, foot, close, closed }
}

// The act of a form returns it to keep the form open.
export const STAY = Symbol('stay')

// A form in a dialog: calls `act` with the values of the form. If it throws, the form shows the
// error and stays open. Resolves to the result of `act`, or undefined if the user closed it.
export function formDialog(title, { submit, danger = false, wide = false }, fields, act) {
  const says = el('p', { class: 'form-error', role: 'alert' })
  const form = el('form', { novalidate: true }, ...fields, says)
  const shown = dialog(title, { wide }, form)
  const go = el(
    'button',
    { type: 'submit', class: `button ${danger ? 'danger' : 'primary'}` },
    submit
  )
  shown.foot.append(
    button('Cancel', () => shown.close()),
    go
  )
  go.setAttribute('form', (form.id = `form-${count}`))
  form.addEventListener('submit', async event => {
    event.preventDefault()
    says.textContent = ''
    const wrong = [...form.elements].find(field => field.willValidate && !field.checkValidity())
    if (wrong) {
      const name = wrong.labels?.[0]?.textContent ?? 'A field'
      says.textContent = `${name}: ${wrong.validationMessage}`
      wrong.focus()
      return
    }
    go.disabled = true
    try {
      const result = await act(new FormData(form), shown)
      if (result !== STAY) shown.close(result)
    } catch (error) {
      says.textContent = error.message
    } finally {
      go.disabled = false
    }
  })
  form.querySelector('input, select, textarea')?.focus()
  return shown.closed
}

// A labelled field with a hint below it.
export function field(label, input, hint) {
  const id = `field-${++count}`
  input.id = id
  const says = hint && el('span', { class: 'hint', id: `${id}-hint`, text: hint })
  if (hint) input.setAttribute('aria-describedby', `${id}-hint`)
  return el(
    'div',
    { class: input.type === 'checkbox' ? 'field check' : 'field' },
    el('label', { for: id }, label),
    input,
    says
  )
}

export const input = (name, props = {}) =>
  el('input', { name, type: 'text', autocomplete: 'off', spellcheck: 'false', ...props })

export const numberInput = (name, props = {}) =>
  el('input', { name, type: 'number', min: 0, step: 1, inputmode: 'numeric', ...props })

// The number in the field, or undefined.
export function numberIn(values, name) {
  const text = (values.get(name) ?? '').trim()
  return text === '' ? undefined : Number(text)
}

const SAID_FOR = 6000

// Shows a short notice.
export function toast(kind, text) {
  const node = el(
    'div',
    { class: `toast toast-${kind}`, role: kind === 'bad' ? 'alert' : 'status' },
    shape(kind),
    el('span', { text })
  )
  const place = document.getElementById('toasts')
  place.append(node)
  // Shown again, it is above a dialog that was opened in the meantime.
  if (place.matches(':popover-open')) place.hidePopover()
  place.showPopover()
  setTimeout(() => node.remove(), SAID_FOR)
}

// Runs the act of a button, and shows a notice with its outcome.
export async function attempt(act, done) {
  try {
    const result = await act()
    if (done) toast('good', done)
    return result
  } catch (error) {
    toast('bad', error.message)
    return undefined
  }
}
