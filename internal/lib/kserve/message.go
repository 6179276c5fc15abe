package kserve

import (
	_ "embed"
	"encoding/json"
	"path"
	"reflect"
	"strings"
	"sync"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/runtime/protoimpl"
	"google.golang.org/protobuf/types/dynamicpb"
)

// definition is the protocol, compiled: a FileDescriptorSet.
//
//go:embed kserve.protoset
var definition []byte

// service is the protocol's one service. The definition is part of the program: that it
// cannot be read is a mistake of this package's. It is read as generated code has its own read, file by
// file in their order: protodesc, which takes any, would add a millisecond to each start of the program.
var service = sync.OnceValue(func() protoreflect.ServiceDescriptor {
	files := new(protoregistry.Files)
	for rest := definition; len(rest) > 0; {
		_, _, tag := protowire.ConsumeTag(rest)
		file, n := protowire.ConsumeBytes(rest[max(tag, 0):])
		if tag < 0 || n < 0 {
			panic("kserve: the definition of the protocol is cut off")
		}
		protoimpl.DescBuilder{GoPackagePath: "kserve", RawDescriptor: file, FileRegistry: files}.Build()
		rest = rest[tag+n:]
	}
	d, err := files.FindDescriptorByName(Service)
	if err != nil {
		panic("kserve: the definition of the protocol: " + err.Error())
	}
	return d.(protoreflect.ServiceDescriptor)
})

// Message is a kind of message of the protocol. In Go its content is a struct, whose fields
// have the names of the message's as `json` tags, and may be fewer.
type Message struct {
	kind protoreflect.MessageDescriptor
}

// Request is what a method takes.
func Request(method string) Message { return Message{named(method).Input()} }

// Response is what a method answers.
func Response(method string) Message { return Message{named(method).Output()} }

func named(method string) protoreflect.MethodDescriptor {
	return service().Methods().ByName(protoreflect.Name(path.Base(method)))
}

// Field is the message that a field holds.
func (m Message) Field(name string) Message {
	return Message{m.kind.Fields().ByName(protoreflect.Name(name)).Message()}
}

// New is a message without content.
func (m Message) New() proto.Message { return dynamicpb.NewMessage(m.kind) }

// Encode gives a message with the content of v, or with none if v is nil.
func (m Message) Encode(v any) ([]byte, error) {
	if v == nil {
		return nil, nil
	}
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	message := m.New()
	if err := protojson.Unmarshal(text, message); err != nil {
		return nil, err
	}
	return proto.MarshalOptions{Deterministic: true}.Marshal(message)
}

// Decode reads a message. It sets what to points at, unless to is nil.
func (m Message) Decode(b []byte, to any) error {
	message := m.New()
	err := proto.Unmarshal(b, message)
	return copyOut(message, to, err)
}

// DecodeJSON reads a message as the HTTP API writes it, without what servers add.
func (m Message) DecodeJSON(text []byte, to any) error {
	message := m.New()
	err := protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(text, message)
	return copyOut(message, to, err)
}

// JSON is an encoded message as JSON.
func (m Message) JSON(b []byte) ([]byte, error) {
	message := m.New()
	if err := proto.Unmarshal(b, message); err != nil {
		return nil, err
	}
	return protojson.MarshalOptions{UseProtoNames: true}.Marshal(message)
}

// Text is an encoded message for a reader. Fields that the definition does not have are
// left out.
func (m Message) Text(b []byte) (string, error) {
	message := m.New()
	if err := proto.Unmarshal(b, message); err != nil {
		return "", err
	}
	text, err := prototext.MarshalOptions{Multiline: true, Indent: "  ", AllowPartial: true}.Marshal(message)
	return string(text), err
}

func copyOut(message proto.Message, to any, err error) error {
	if err == nil && to != nil {
		setStruct(reflect.ValueOf(to).Elem(), message.ProtoReflect())
	}
	return err
}

func setStruct(to reflect.Value, message protoreflect.Message) {
	for i := range to.NumField() {
		name, _, _ := strings.Cut(to.Type().Field(i).Tag.Get("json"), ",")
		field := message.Descriptor().Fields().ByName(protoreflect.Name(name))
		if message.Has(field) {
			setField(to.Field(i), field, message.Get(field))
		}
	}
}

func setField(to reflect.Value, field protoreflect.FieldDescriptor, v protoreflect.Value) {
	switch {
	case field.IsList():
		list := v.List()
		to.Set(reflect.MakeSlice(to.Type(), list.Len(), list.Len()))
		for i := range list.Len() {
			setValue(to.Index(i), field, list.Get(i))
		}
	case field.IsMap():
		to.Set(reflect.MakeMap(to.Type()))
		v.Map().Range(func(key protoreflect.MapKey, v protoreflect.Value) bool {
			value := reflect.New(to.Type().Elem()).Elem()
			setValue(value, field.MapValue(), v)
			to.SetMapIndex(reflect.ValueOf(key.Interface()), value)
			return true
		})
	default:
		setValue(to, field, v)
	}
}

func setValue(to reflect.Value, field protoreflect.FieldDescriptor, v protoreflect.Value) {
	if to.Kind() == reflect.Pointer {
		to.Set(reflect.New(to.Type().Elem()))
		to = to.Elem()
	}
	switch field.Kind() {
	case protoreflect.MessageKind:
		setStruct(to, v.Message())
	case protoreflect.EnumKind:
		if named := field.Enum().Values().ByNumber(v.Enum()); named != nil {
			to.SetString(string(named.Name()))
		}
	default:
		to.Set(reflect.ValueOf(v.Interface()))
	}
}
