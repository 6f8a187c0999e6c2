package config

import "reflect"

// Clone returns a copy that shares nothing with c.
func (c *Config) Clone() *Config {
	return deepCopy(reflect.ValueOf(c)).Interface().(*Config)
}

func deepCopy(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return v
		}
		fresh := reflect.New(v.Type().Elem())
		fresh.Elem().Set(deepCopy(v.Elem()))
		return fresh
	case reflect.Interface:
		if v.IsNil() {
			return v
		}
		return deepCopy(v.Elem())
	case reflect.Map:
		if v.IsNil() {
			return v
		}
		fresh := reflect.MakeMapWithSize(v.Type(), v.Len())
		for iter := v.MapRange(); iter.Next(); {
			fresh.SetMapIndex(iter.Key(), deepCopy(iter.Value()))
		}
		return fresh
	case reflect.Slice:
		if v.IsNil() {
			return v
		}
		fresh := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			fresh.Index(i).Set(deepCopy(v.Index(i)))
		}
		return fresh
	case reflect.Struct:
		fresh := reflect.New(v.Type()).Elem()
		fresh.Set(v) // also what is not exported, as in a time
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fresh.Field(i).Set(deepCopy(v.Field(i)))
			}
		}
		return fresh
	default:
		return v
	}
}
