package endpoint

import (
	"bytes"
	"encoding/binary"
)

// Responses counts the complete responses in a body behind from, and says where the last ends. A
// body is gRPC messages, each with its prefix, which begins with a zero byte, or server-sent
// events, of which each with data is a response.
func Responses(body []byte, from int) (n, end int) {
	if len(body) > 0 && body[0] == 0 {
		return messages(body, from)
	}
	end = from
	for {
		size, data := event(body[end:])
		if size == 0 {
			return n, end
		}
		end += size
		if data {
			n++
		}
	}
}

// prefix is the flag and the length in front of a gRPC message.
const prefix = 5

func messages(body []byte, from int) (n, end int) {
	for end = from; len(body)-end >= prefix; n++ {
		size := uint64(binary.BigEndian.Uint32(body[end+1:]))
		if size > uint64(len(body)-end-prefix) {
			break
		}
		end += prefix + int(size)
	}
	return n, end
}

// event is the size of the first event with its blank line, and whether it has data; 0: incomplete.
func event(body []byte) (size int, data bool) {
	for {
		i := bytes.IndexByte(body[size:], '\n')
		if i < 0 {
			return 0, false
		}
		line := bytes.TrimSuffix(body[size:size+i], []byte("\r"))
		size += i + 1
		if len(line) == 0 {
			return size, data
		}
		data = data || bytes.HasPrefix(line, []byte("data:"))
	}
}
