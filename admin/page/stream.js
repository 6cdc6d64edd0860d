// SPDX-License-Identifier: MIT
// Server-sent events, read from a fetch: an EventSource cannot send a token.

// Calls take(event, text) for each event of `text`, and returns the incomplete rest.
function takeEvents(text, take) {
  const blocks = text.split('\n\n')
  const rest = blocks.pop()
  for (const block of blocks) {
    let event = 'message'
    const data = []
    for (const line of block.split('\n')) {
      if (line.startsWith('event:')) event = line.slice(6).trim()
      if (line.startsWith('data:')) data.push(line.slice(5).trimStart())
    }
    if (data.length) take(event, data.join('\n'))
  }
  return rest
}

// Resolves when the stream has ended; rejects if it breaks or is silent for too long.
export async function readEvents(response, silence, take) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (;;) {
    let timer
    const late = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Error('silent')), silence)
    })
    try {
      const { done, value } = await Promise.race([reader.read(), late])
      if (done) return
      rest = takeEvents((rest + value).replaceAll('\r\n', '\n'), take)
    } catch (error) {
      reader.cancel().catch(() => {})
      throw error
    } finally {
      clearTimeout(timer)
    }
  }
}
